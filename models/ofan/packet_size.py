"""Optimal packet size of a scheme whose queues do not grow with the message (seed Thm. 6,
appendix G), and packets of a training message (section 6.7).

Times are in bytes of link time: divide by the link rate C in bytes/s to get seconds.
"""

from __future__ import annotations

import math


def completion_time(
    packet: float, message: float, header: float = 82, queue_packets: float = 10
) -> float:
    """Return f(P) = P·D/(P - H) + α·P, the time to send a message and pass the queues, bytes.

    `packet` is P, the whole packet with header and gap; `message` is D, the bytes to send;
    `header` is H (82 = 62 of header and 20 of gap); `queue_packets` is α, the packets that a
    packet waits for on its way, whatever D. Equation 21 without 1/C and the zero-load round trip.

    Raises `ValueError` naming the parameter if P <= H, D <= 0, H <= 0 or α <= 0.
    """
    _positive(message=message, header=header, queue_packets=queue_packets)
    if not packet > header:
        raise ValueError(f"packet must be more than header ({header!r}), not {packet!r}")
    return packet * message / (packet - header) + queue_packets * packet


def optimal_payload(message: float, header: float = 82, queue_packets: float = 10) -> float:
    """Return P - H = √(H·D/α), the payload in bytes that makes f(P) least (equation 6).

    It grows as √D: 2,932 bytes for a message of 1 MiB, 5,865 for 4 MiB. Parameters and errors as
    for `completion_time`.
    """
    _positive(message=message, header=header, queue_packets=queue_packets)
    return math.sqrt(header * message / queue_packets)


def optimal_increase(message: float, header: float = 82, queue_packets: float = 10) -> float:
    """Return f(P)/D - 1 at the optimal payload: 2·√(α·H/D) + α·H/D, a fraction.

    What headers and queues together add to the bare D/C, the least that any payload allows.
    """
    _positive(message=message, header=header, queue_packets=queue_packets)
    ratio = queue_packets * header / message
    return 2 * math.sqrt(ratio) + ratio


def layer_packets(
    parameters: float,
    layers: int,
    shards: int = 1024,
    payload: int = 4096,
    bytes_per_parameter: float = 2,
) -> float:
    """Return packets a flow sends for one layer of a sharded model (section 6.7).

    One of `shards` equal parts of a layer in packets of `payload` bytes. The paper's 119, 418 and
    1,533 packets (Llama-3 8B, 70B, 405B) come out within 1 % with 2 bytes a parameter, although
    its text says FP8, which is 1. Raises `ValueError` naming a parameter that is not positive.
    """
    _positive(
        parameters=parameters,
        layers=layers,
        shards=shards,
        payload=payload,
        bytes_per_parameter=bytes_per_parameter,
    )
    return bytes_per_parameter * parameters / layers / shards / payload


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be more than 0, not {value!r}")

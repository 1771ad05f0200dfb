"""Files made bad: bytes flipped, cut, repeated, swapped, fields made extreme."""

import gzip
import io
import random
import re
import zipfile

EXTREME = [
    *(b"", b"0", b"-1", b"1e999", b"-1e308", b"1e-320", b"nan", b"inf", b"-0", b"?"),
    *(b"9" * 18, b"9" * 19, b"9" * 30, b"9" * 5000, b"-" + b"9" * 19, b"200000"),
    *(b"1000000000000", b"2147483648", b"4294967295", b"0x10", b"1_000", b"5,8", b"01"),
    *(b"true", b"null", b"None", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *("²".encode(), "٣".encode(), "\u2028".encode(), "Å".encode(), b"\r", b"\x1a"),
    *(b"\n", b"\n\n", b"\t", b",", b";", b":", b" ", b"'", b'"', b'"\n"', b"#", b"@"),
    *(b"[" * 2000, b"(" * 300, b"{}", b"()", b"x" * 10_000, b"1," * 3000),
    *(b"=1+1", b">"),
]
FIELD = re.compile(rb"[^\s,;:\t()'\"\[\]{}]+")


def mutated(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Return a file with one to four changes, inside archives too.

    Parts of ``other`` may be put into it.
    """
    if content[:2] == b"PK" and rng.random() < 0.7:
        return rezipped(rng, content)
    if content[:2] == b"\x1f\x8b" and rng.random() < 0.7:
        inner = mutated(rng, gzip.decompress(content), other)
        return gzip.compress(inner, 1)
    for _ in range(rng.choice((1, 1, 2, 4))):
        content = rng.choice(CHANGES)(rng, content, other)
    return content


def _span(rng: random.Random, content: bytes) -> tuple[int, int]:
    """Return where a short part begins and ends; often in the last or first bytes."""
    n = len(content)
    begin = rng.randrange(n + 1)
    if rng.random() < 0.3:
        first, last = rng.randint(0, min(n, 200)), rng.randint(max(0, n - 200), n)
        begin = rng.choice((first, last))
    return begin, min(n, begin + rng.choice((1, 1, 2, 8, 64, 1000)))


def _flip(rng: random.Random, content: bytes, other: bytes) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        place = min(_span(rng, content)[0], len(changed) - 1)
        changed[place] = rng.choice((changed[place] ^ (1 << rng.randrange(8)), 255, 0))
    return bytes(changed)


def _cut(rng: random.Random, content: bytes, other: bytes) -> bytes:
    begin, end = _span(rng, content)
    return content[:begin] if rng.random() < 0.3 else content[:begin] + content[end:]


def _repeat(rng: random.Random, content: bytes, other: bytes) -> bytes:
    begin, end = _span(rng, content)
    times = rng.choice((1, 2, 30, 1000))
    return content[:end] + content[begin:end] * times + content[end:]


def _swap(rng: random.Random, content: bytes, other: bytes) -> bytes:
    (a, b), (c, d) = sorted((_span(rng, content), _span(rng, content)))
    c = max(b, c)
    d = max(c, d)
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _line(rng: random.Random, content: bytes, other: bytes) -> bytes:
    lines = content.split(b"\n")
    place = rng.randrange(len(lines))
    line = lines.pop(place)
    again = rng.choice(([], [line, line], [line[: len(line) // 2], b""], [b"", line]))
    lines[rng.randrange(len(lines) + 1) : 0] = again
    return b"\n".join(lines)


def _field(rng: random.Random, content: bytes, other: bytes) -> bytes:
    found = list(FIELD.finditer(content))
    if not found:
        return content
    spot = rng.choice(found)
    return content[: spot.start()] + rng.choice(EXTREME) + content[spot.end() :]


def _splice(rng: random.Random, content: bytes, other: bytes) -> bytes:
    begin, end = _span(rng, other)
    place = _span(rng, content)[0]
    return content[:place] + other[begin:end] + content[place:]


def _insert(rng: random.Random, content: bytes, other: bytes) -> bytes:
    place = _span(rng, content)[0]
    return content[:place] + rng.choice(EXTREME) + content[place:]


CHANGES = [_flip, _cut, _repeat, _swap, _line, _field, _field, _field, _splice, _insert]


def rezipped(rng: random.Random, content: bytes) -> bytes:
    """Return an archive of which one member is bad, with checksums that are right."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        members = [(each.filename, old.read(each)) for each in old.infolist()]
        chosen = rng.randrange(len(members))
        for place, (name, inner) in enumerate(members):
            if place == chosen:
                way = rng.random()
                if way < 0.05:
                    continue
                if way < 0.1:
                    name = rng.choice(("../../x.npy", "/x.npy", "x", "y.npy", name * 2))
                else:
                    inner = mutated(rng, inner, members[0][1])
            new.writestr(name, inner)
    return made.getvalue()

"""Files that are damaged, cut, too large or not ours: one clear error each, and nothing large allocated."""

from __future__ import annotations

import io
import json
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

import rankwise
from rankwise import RankwiseFormatError
from rankwise.label_ranking import DummyRanker, PairwiseRanker, RankingTree
from rankwise.persistence import container
from rankwise.trees import LeastSquaresForest
from tests.persistence.damage import forge, members, pieces, record_of, with_manifest, zipped
from tests.persistence.fitted import features, rankings


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rankwise"


@pytest.fixture
def saved(path):
    rankwise.save(RankingTree(max_depth=2).fit(features(), rankings("full")), path)
    return path


def refused(path, match=None, **options):
    with pytest.raises(RankwiseFormatError, match=match) as error:
        rankwise.load(path, **options)
    assert error.value.path == str(path)
    assert error.value.cure
    assert "\n" not in str(error.value)


def flips_are_found_or_do_no_harm(path, estimator, says, step):
    rankwise.save(estimator, path)
    data, expected, harmless = path.read_bytes(), says(estimator), 0
    places = range(0, len(data), step)
    for number, place in enumerate(places):
        bits = (0x01, 0x80, 0xFF, 0x10)[number % 4]
        path.write_bytes(data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :])
        try:
            loaded = rankwise.load(path)
        except RankwiseFormatError:
            continue
        np.testing.assert_array_equal(says(loaded), expected)
        harmless += 1
    # Dates, versions and attributes of members say nothing, and no checksum is over them.
    assert harmless < 0.2 * len(places)


def test_every_flipped_byte_is_found_or_does_no_harm(path):
    ranker = DummyRanker().fit(features(), rankings("full"))
    flips_are_found_or_do_no_harm(path, ranker, lambda ranker: ranker.predict_pairwise([[0.0] * 3]), 1)


@pytest.mark.parametrize("estimator", [RankingTree(max_depth=2), PairwiseRanker()], ids=str)
def test_flipped_bytes_of_larger_files(estimator, path):
    ranker = estimator.fit(features(), rankings("full"))
    flips_are_found_or_do_no_harm(path, ranker, lambda ranker: ranker.predict_pairwise(features()), 5)


def test_every_cut_is_found(saved):
    data = saved.read_bytes()
    for length in [*range(0, len(data), 11), len(data) - 1]:
        saved.write_bytes(data[:length])
        refused(saved)
    saved.write_bytes(data + b"\0")
    refused(saved, "not a zip file, or its end is missing")


@pytest.mark.parametrize("content", [b"", b"PK", b"hello", b"\x80\x04\x95", b"PK\5\6" + bytes(18), bytes(1000)])
def test_other_files_are_refused(content, path):
    path.write_bytes(content)
    refused(path)


def test_a_zip_of_something_else_is_refused(path):
    zipped(path, [("manifest.json", b"{}")])
    refused(path, "does not hold a model of rankwise")
    zipped(path, [("word/document.xml", b"<a/>")])
    refused(path, "not those of a model")


@pytest.mark.parametrize("name", ["../evil.npy", "/etc/passwd", "float64.npy/", "float64.npz", "a\nb", "manifest.JSON"])
def test_members_with_other_names_are_refused(name, saved):
    zipped(saved, [*members(saved).items(), (name, b"")])
    refused(saved, "not those of a model|more members")


def test_members_that_come_twice_are_refused(saved):
    entries = list(members(saved).items())
    zipped(saved, [*entries, entries[0]])
    refused(saved, "not those of a model")


def test_a_long_list_of_members_is_refused_before_it_is_read(saved):
    zipped(saved, [*members(saved).items(), *((f"{number}.npy", b"") for number in range(200))])
    refused(saved, "more members than a model has")


def test_a_second_end_does_not_hide_a_long_list_of_members(saved):
    data = bytearray(saved.read_bytes())
    end = data[-22:]
    size, start = struct.unpack("<II", end[12:20])
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 10**7, 10**7, size, start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, len(data) - 22, 1)
    saved.write_bytes(bytes(data[:-22]) + record + locator + bytes(end))
    refused(saved, "more members than a model has")


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(compression, saved):
    zipped(saved, list(members(saved).items()), compression)
    refused(saved, "compressed in a way that models are not")


def test_encrypted_members_are_refused(saved):
    data = bytearray(saved.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    saved.write_bytes(bytes(data))
    refused(saved, "encrypted")


def test_members_that_are_stored_are_read(saved):
    expected = rankwise.load(saved).predict(features())
    zipped(saved, list(members(saved).items()), zipfile.ZIP_STORED)
    np.testing.assert_array_equal(rankwise.load(saved).predict(features()), expected)


def test_large_models_are_refused_and_the_message_says_how_large(saved):
    total = sum(len(content) for content in members(saved).values())
    refused(saved, f"takes {total:,} bytes.*max_bytes={total}", max_bytes=total - 1)
    rankwise.load(saved, max_bytes=total)


def test_a_bomb_is_refused_before_it_is_inflated(path):
    big = 2**26
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("float64.npy", "w") as stream:
            for _ in range(big // 2**20):
                stream.write(bytes(2**20))
        archive.writestr("manifest.json", b"{}")
    path.write_bytes(buffer.getvalue())
    tracemalloc.start()
    refused(path, r"takes 67,108,866 bytes", max_bytes=2**20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21


def test_sizes_that_are_lies_are_refused(saved):
    """The directory says that a member is huge, or tiny."""
    data = saved.read_bytes()
    place = data.index(b"PK\1\2") + 24
    for size in (0, 1, 2**31 - 1):
        saved.write_bytes(data[:place] + struct.pack("<I", size) + data[place + 4 :])
        refused(saved)


def test_a_manifest_that_claims_huge_arrays_is_refused_before_they_are_made(saved):
    def claim(manifest):
        manifest["arrays"][0][1] = [10**9, 10**9]

    with_manifest(saved, claim)
    tracemalloc.start()
    refused(saved, "do not fill the member")
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_one_array_used_many_times_counts_many_times(saved):
    def repeat(manifest, arrays):
        arrays.append(np.zeros(10**6))
        record = manifest["objects"][-1]
        record["parameters"]["categorical_features"] = [{"array": len(arrays) - 1}] * 1000

    forge(saved, repeat)
    refused(saved, "counted for every use", max_bytes=10**9)


def test_a_manifest_is_not_longer_than_any_is(path, monkeypatch):
    monkeypatch.setattr("rankwise.persistence.container.MOST_MANIFEST", 100)
    with pytest.raises(ValueError, match="too many parts"):
        rankwise.save(DummyRanker(), path)
    monkeypatch.undo()
    rankwise.save(DummyRanker(), path)
    monkeypatch.setattr("rankwise.persistence.container.MOST_MANIFEST", 100)
    refused(path, "manifest is too long")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[" * 100_000,
        '{"a":' * 100_000,
        "NaN",
        '{"format": "rankwise model", "format_version": NaN}',
        '{"format": "rankwise model", "format_version": 1}',
        '{"format": "rankwise model", "format_version": true}',
        '{"format": "rankwise model", "format_version": 0}',
        '{"format": "rankwise model", "format_version": ' + "9" * 5000 + "}",
        '{"format": "rankwise model", "format_version": 1, "members": 3, "arrays": 4, "objects": 5, "class": 6}',
        '{"format": "rankwise model", "format_version": 1, "members": {}, "arrays": [], "objects": [], "class": "a"}',
        '{"format": "räng"}',
        "",
    ],
    ids=lambda text: text[:30] + text[-30:],
)
def test_manifests_that_are_none_are_refused(text, path):
    zipped(path, [("manifest.json", text.encode())])
    refused(path)


@pytest.mark.parametrize(
    "entry",
    [
        ["float64", [2], "K"],
        ["float16", [2], "C"],
        ["object", [2], "C"],
        ["float64", [-2], "C"],
        ["float64", [2.0], "C"],
        ["float64", [True], "C"],
        ["float64", [1] * 9, "C"],
        ["float64", 2, "C"],
        ["float64", [2]],
        [["float64"], [2], "C"],
        "float64",
        None,
    ],
    ids=str,
)
def test_arrays_of_no_known_type_or_shape_are_refused(entry, saved):
    with_manifest(saved, lambda manifest: manifest["arrays"].__setitem__(0, entry))
    refused(saved)


def test_checksums_are_compared(saved):
    with_manifest(saved, lambda manifest: manifest["members"].update({"float64.npy": "0" * 64}))
    refused(saved, r"checksum of float64\.npy is wrong")


def test_members_that_are_not_listed_and_lists_without_members_are_refused(saved):
    parts = members(saved)
    zipped(saved, [*parts.items(), ("int8.npy", parts["int32.npy"])])
    refused(saved, "do not belong together")
    del parts["float64.npy"]
    zipped(saved, list(parts.items()))
    refused(saved, "do not belong together")


@pytest.mark.parametrize(
    "array",
    [
        np.array([object()], dtype=object),
        np.zeros(3, dtype=np.float32),
        np.zeros((3, 1)),
        np.zeros(3, dtype=">f8"),
        np.zeros(2),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_of_other_types_and_shapes_than_listed_are_refused(array, path):
    """Pickled ones above all."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    content = buffer.getvalue()
    from hashlib import sha256

    manifest = {
        "format": "rankwise model",
        "format_version": 1,
        "class": "DummyRanker",
        "members": {"float64.npy": sha256(content).hexdigest()},
        "arrays": [["float64", [3], "C"]],
        "objects": [{"class": "DummyRanker", "parameters": {}, "state": {}}],
    }
    zipped(path, [("float64.npy", content), ("manifest.json", json.dumps(manifest).encode())])
    refused(path)


@pytest.mark.parametrize("header", [b"\x93NUMPY\x02\x00", b"\x93NUMPY\x01\x00\xff\xff", b"\x94NUMPY\x01\x00"])
def test_broken_headers_of_arrays_are_refused(header, saved):
    parts = members(saved)
    parts["float64.npy"] = header + parts["float64.npy"][len(header) :]
    zipped(saved, list(parts.items()))
    refused(saved)


def test_truth_values_are_0_or_1(saved):
    def forged(manifest, arrays):
        place = next(place for place, array in enumerate(arrays) if array.dtype == bool)
        arrays[place] = np.full(arrays[place].shape, 7, dtype=np.uint8).view(bool)

    forge(saved, forged)
    refused(saved, "neither 0 nor 1")


def test_orders_types_and_empty_arrays_come_back(saved):
    arrays_in = [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24, dtype=np.int32).reshape(2, 3, 4)[:, ::2, 1:],
        np.array(3.5),
        np.zeros((0, 4), dtype=np.uint8),
        np.arange(10, dtype=">i8"),
    ]

    def append(manifest, arrays):
        arrays.extend(arrays_in)

    forge(saved, append)
    for before, after in zip(arrays_in, pieces(saved)[1][-len(arrays_in) :], strict=True):
        np.testing.assert_array_equal(after, before)
        assert after.dtype == before.dtype.newbyteorder("=")
        assert after.flags.writeable
        assert after.flags.f_contiguous == (before.flags.f_contiguous or after.ndim < 2 or not after.size)


def test_loading_takes_little_more_memory_than_the_arrays(saved):
    forge(saved, lambda manifest, arrays: arrays.append(np.random.default_rng(0).random(10**6)))
    tracemalloc.start()
    rankwise.load(saved)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.7 * 8 * 10**6


def busy(manifest, arrays):
    """Many arrays of nothing."""
    arrays += [np.empty(0, np.int8)] * 200_000


def names_one_tree_many_times(manifest, arrays):
    trees = record_of(manifest, "LeastSquaresForest")["state"]["trees_"]
    trees += [trees[0]] * 70_000


def names_one_large_tree_many_times(manifest, arrays):
    """Within the number of references, but 60 copies of half a megabyte or more."""
    trees = record_of(manifest, "LeastSquaresForest")["state"]["trees_"]
    trees += [trees[0]] * 60


def long_names(manifest, arrays):
    """Strings of which one is long, and so are all."""
    text = {"text": [[201], ["a" * 10_000] + ["b"] * 200]}
    record_of(manifest, "LeastSquaresForest")["parameters"]["random_state"] = [text] * 20


@pytest.mark.parametrize(
    ("change", "n_rows", "match"),
    [
        (busy, 20, "manifest is too long"),
        (names_one_tree_many_times, 20, "again and again"),
        (names_one_large_tree_many_times, 20_000, "counted for every use"),
        (long_names, 20, "counted for every use"),
    ],
)
def test_small_files_do_not_keep_load_busy(change, n_rows, match, path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    rankwise.save(LeastSquaresForest(3, random_state=0).fit(X, X[:, 0]), path)
    with monkeypatch.context() as unchecked:
        unchecked.setattr(container, "_longest_manifest", lambda size: 2**26)
        forge(path, change)
    begin = time.process_time()
    refused(path, match, max_bytes=2**24)
    assert time.process_time() - begin < 3  # seconds; it was 4 and more

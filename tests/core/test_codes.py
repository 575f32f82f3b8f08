"""Laws of sgn, pack, unpack and hamming."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ohash.core.codes import Codes, hamming, pack, sgn, unpack

signs = array_shapes(min_dims=1, max_dims=3, max_side=33).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.sampled_from([-1, 1]))
)


@given(arrays(np.float64, st.integers(0, 20), elements=st.floats(allow_nan=False)))
def test_sgn_is_the_sign_with_plus_one_at_zero(p):
    assert sgn(p).dtype == np.int8
    assert sgn(p).tolist() == [1 if v >= 0 else -1 for v in p.tolist()]


def test_sgn_of_both_zeros():
    assert sgn(np.array([0.0, -0.0], dtype=np.float32)).tolist() == [1, 1]


@given(signs)
def test_unpack_is_the_inverse_of_pack(h):
    r = h.shape[-1]
    packed = pack(h > 0)
    assert packed.dtype == np.uint8 and packed.shape == (*h.shape[:-1], -(-r // 8))
    np.testing.assert_array_equal(unpack(packed, r), h)


@given(signs)
def test_bit_k_lies_in_byte_k_over_8_and_the_rest_is_zero(h):
    r, packed = h.shape[-1], pack(h > 0)
    for k in range(8 * packed.shape[-1]):
        bit = packed[..., k // 8] >> (k % 8) & 1
        np.testing.assert_array_equal(bit, h[..., k] > 0 if k < r else 0)


@given(
    st.integers(1, 70).flatmap(lambda r: st.tuples(*[arrays(np.int8, (5, r), elements=st.sampled_from([-1, 1]))] * 3))
)
def test_hamming_is_a_metric_that_counts_bits(codes):
    a, b, _ = codes
    A, B, C = (pack(x > 0) for x in codes)
    np.testing.assert_array_equal(hamming(A, B), (a != b).sum(axis=1))
    np.testing.assert_array_equal(hamming(A, B), hamming(B, A))
    np.testing.assert_array_equal(hamming(A, A), 0)
    assert (hamming(A, C) <= hamming(A, B) + hamming(B, C)).all()
    table = hamming(A[:, None], B[None])
    assert table.shape == (5, 5) and table.dtype == np.int64
    np.testing.assert_array_equal(np.diag(table), hamming(A, B))


def test_codes_know_their_hash_through_slices_copies_and_processes():
    codes = Codes(np.arange(12, dtype=np.uint8).reshape(2, 3, 2), 13, 7)
    for other in (codes[0], codes[:, 1:], codes.copy(), pickle.loads(pickle.dumps(codes))):
        assert isinstance(other, Codes) and (other.r, other.version) == (13, 7)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(codes)), codes)


def test_a_distance_is_not_a_code():
    codes = Codes(np.zeros((2, 1), np.uint8), 8, 0)
    assert type(hamming(codes, codes)) is np.ndarray

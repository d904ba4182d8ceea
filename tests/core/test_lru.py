"""The bounded dict: hits, what is used again, what is thrown out, threads."""

import threading

import pytest

from mxnet._core.lru import Recent


def filled(most, count):
    known = Recent(most)
    for number in range(count):
        assert known.keep(number, number * 10) == number * 10
    return known


@pytest.mark.parametrize("most", [2, 3, 8, 9])
def test_the_bound_holds(most):
    known = Recent(most)
    for number in range(50):
        known.keep(number, number)
        assert known.total() <= most
        assert known[number] == number


def test_the_least_recently_used_is_thrown_out():
    known = filled(8, 8)
    for number in range(8, 40):
        assert known.again(3) == 30  # used all the time, it stays
        known.keep(number, number * 10)
    assert known.again(3) == 30
    assert [known.again(number) for number in (0, 1, 2, 4, 20)] == [None] * 5
    assert known.again(39) == 390


def test_the_older_half_is_found_again():
    known = filled(8, 5)  # 0 to 3 are the older half
    assert known.get(0) is None and known.again(0) == 0
    assert known.get(0) == 0
    assert known[1] == 10
    assert known.total() == 5


def test_what_is_not_there():
    known = filled(4, 3)
    assert known.again("x") is None
    with pytest.raises(KeyError):
        known["x"]


def test_clear():
    known = filled(8, 7)
    known.clear()
    assert known.total() == 0 and known.again(1) is None and known.again(6) is None


def test_a_bound_of_one():
    known = filled(1, 5)
    assert known.again(4) == 40 and known.total() <= 2


def test_threads():
    known, wrong = Recent(16), []

    def work(seed):
        for number in range(3000):
            key = (number * seed) % 40
            found = known.get(key) or known.again(key)
            if found is None:
                found = known.keep(key, key + 1)
            if found != key + 1:
                wrong.append((key, found))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 3, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and known.total() <= 16 + 4

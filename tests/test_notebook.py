"""Arrays and networks as a notebook shows them."""

import xml.etree.ElementTree as ElementTree

import mxnet as mx
from mxnet import nd
from mxnet.gluon import nn


def cells(array):
    tree = ElementTree.fromstring(f"<div>{array._repr_html_()}</div>")
    return tree.find("small").text, [[cell.text for cell in row] for row in tree.iter("tr")]


def test_small_arrays_are_tables():
    assert cells(nd.array([[1, 2.5], [3, 4]])) == ("NDArray 2×2, float32, cpu(0)", [["1", "2.5"], ["3", "4"]])
    assert cells(nd.array([1, 2], dtype="int32", ctx=mx.cpu(1))) == ("NDArray 2, int32, cpu(1)", [["1", "2"]])


def test_long_arrays_lose_their_middle():
    _, rows = cells(nd.arange(10000).reshape((100, 100)))
    assert len(rows) == 11 and rows[0] == ["0", "1", "2", "3", "4", "…", "95", "96", "97", "98", "99"]
    assert rows[5] == ["…"] * 11 and rows[-1][-1] == "9999"


def test_other_arrays_are_printed():
    assert "<pre>[[[1. 1.]" in nd.ones((2, 2, 2))._repr_html_()
    assert "<table>" not in nd.ones((1, 1, 1))._repr_html_()


def test_networks_are_trees():
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=2), nn.Dense(4))
    text = net._repr_html_()
    tree = ElementTree.fromstring(text)
    assert tree.find("details/summary").text.strip() == "HybridSequential"
    assert tree.find("details/summary/small").text == "13 parameters and more after the first batch"
    assert [e.text for e in tree.findall("details/div")] == [
        "(0): Dense(2 -> 3, linear)",
        "(1): Dense(None -> 4, linear)",
    ]
    assert "Dense(2 -&gt; 3" in text

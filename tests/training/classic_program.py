"""A program as they were written in 2016: symbols, a module, record files, a speedometer, checkpoints, a store."""

import argparse
import logging
import os

import mxnet as mx


def get_lenet():
    data = mx.symbol.Variable("data")
    conv1 = mx.symbol.Convolution(data=data, kernel=(5, 5), num_filter=8)
    tanh1 = mx.symbol.Activation(data=conv1, act_type="tanh")
    pool1 = mx.symbol.Pooling(data=tanh1, pool_type="max", kernel=(2, 2), stride=(2, 2))
    conv2 = mx.symbol.Convolution(data=pool1, kernel=(5, 5), num_filter=16)
    bn2 = mx.symbol.BatchNorm(data=conv2, fix_gamma=False, name="bn2")
    tanh2 = mx.symbol.Activation(data=bn2, act_type="tanh")
    pool2 = mx.symbol.Pooling(data=tanh2, pool_type="max", kernel=(2, 2), stride=(2, 2))
    flatten = mx.symbol.Flatten(data=pool2)
    fc1 = mx.symbol.FullyConnected(data=flatten, num_hidden=32)
    tanh3 = mx.symbol.Activation(data=fc1, act_type="tanh")
    fc2 = mx.symbol.FullyConnected(data=tanh3, num_hidden=10)
    return mx.symbol.SoftmaxOutput(data=fc2, name="softmax")


def get_iterator(args, kv, name):
    return mx.io.ImageRecordIter(
        path_imgrec=os.path.join(args.data_dir, name),
        mean_r=33.0,
        scale=1.0 / 255,
        data_shape=(1, 28, 28),
        batch_size=args.batch_size,
        rand_crop=False,
        rand_mirror=False,
        num_parts=kv.num_workers,
        part_index=kv.rank,
    )


def main(arguments):
    parser = argparse.ArgumentParser(description="train an image classifier on digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--model-prefix")
    parser.add_argument("--load-epoch", type=int)
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--num-epochs", type=int, default=2)
    parser.add_argument("--num-devices", type=int, default=2)
    parser.add_argument("--kv-store", default="local")
    args = parser.parse_args(arguments)

    mx.random.seed(7)
    kv = mx.kvstore.create(args.kv_store)
    train, val = get_iterator(args, kv, "train.rec"), get_iterator(args, kv, "val.rec")
    net, arg_params, aux_params = get_lenet(), None, None
    if args.load_epoch is not None:
        net, arg_params, aux_params = mx.model.load_checkpoint(args.model_prefix, args.load_epoch)
    model = mx.mod.Module(symbol=net, context=[mx.cpu(i) for i in range(args.num_devices)], logger=logging)
    model.fit(
        train,
        begin_epoch=args.load_epoch or 0,
        num_epoch=args.num_epochs,
        eval_data=val,
        eval_metric=["accuracy", "ce"],
        kvstore=kv,
        optimizer="sgd",
        optimizer_params={
            "learning_rate": 0.1,
            "momentum": 0.9,
            "wd": 0.0001,
            "lr_scheduler": mx.lr_scheduler.FactorScheduler(step=15, factor=0.9),
        },
        initializer=mx.init.Xavier(factor_type="in", magnitude=2.34),
        arg_params=arg_params,
        aux_params=aux_params,
        batch_end_callback=mx.callback.Speedometer(args.batch_size, 5),
        epoch_end_callback=mx.callback.do_checkpoint(args.model_prefix),
        allow_missing=True,
    )
    return model

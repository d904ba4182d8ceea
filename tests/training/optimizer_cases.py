"""Optimizer trajectories: the cases, and how one is run; shared by the tests and by the script that records MXNet's."""

import numpy as np

STEPS = 20
SHAPES = {"fc_weight": (4, 3), "fc_bias": (5,), "conv_weight": (2, 3, 2, 2), "bn_gamma": (3,), "out_weight": (3, 4)}

CASES = {
    "sgd": ("sgd", {"learning_rate": 0.1}),
    "sgd_decay": ("sgd", {"learning_rate": 0.1, "wd": 0.01, "rescale_grad": 0.5}),
    "sgd_momentum": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
    "sgd_clip": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "clip_gradient": 0.3, "rescale_grad": 2.0}),
    "sgd_clip_plain": ("sgd", {"learning_rate": 0.1, "clip_gradient": 0.3, "wd": 0.1}),
    "ccsgd": ("ccsgd", {"learning_rate": 0.1, "momentum": 0.5}),
    "nag": ("nag", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
    "nag_plain": ("nag", {"learning_rate": 0.1, "wd": 0.01}),
    "nag_clip": ("nag", {"learning_rate": 0.1, "momentum": 0.8, "clip_gradient": 0.2, "rescale_grad": 0.7}),
    "signum": ("signum", {"learning_rate": 0.01, "wd": 0.01, "wd_lh": 0.02}),
    "signum_clip": ("signum", {"learning_rate": 0.01, "momentum": 0.7, "clip_gradient": 0.2}),
    "signsgd": ("signum", {"learning_rate": 0.01, "momentum": 0.0, "wd": 0.1}),
    "dcasgd": ("dcasgd", {"learning_rate": 0.1, "wd": 0.01, "clip_gradient": 0.5}),
    "lars": ("lars", {"learning_rate": 0.5, "momentum": 0.9, "wd": 0.01, "eta": 0.1}),
    "lars_plain": ("lars", {"learning_rate": 0.5, "wd": 0.01, "eta": 0.1, "rescale_grad": 0.5, "eps": 1e-3}),
    "lbsgd": ("lbsgd", {"learning_rate": 0.1, "momentum": 0.9, "batch_scale": 2, "updates_per_epoch": 4}),
    "lbsgd_lars": ("lbsgd", {"learning_rate": 0.1, "warmup_strategy": "lars", "wd": 0.01}),
    "lbsgd_power2": ("lbsgd", {"learning_rate": 0.1, "warmup_strategy": "power2", "batch_scale": 3}),
    "adam": ("adam", {"learning_rate": 0.01, "wd": 0.01}),
    "adam_clip": ("adam", {"learning_rate": 0.01, "wd": 0.1, "clip_gradient": 0.3, "rescale_grad": 1.5}),
    "adam_rescale": ("adam", {"beta1": 0.8, "beta2": 0.99, "epsilon": 1e-3, "rescale_grad": 0.25}),
    "adamax": ("adamax", {"learning_rate": 0.02, "wd": 0.01, "clip_gradient": 0.5}),
    "nadam": ("nadam", {"learning_rate": 0.01, "wd": 0.01, "clip_gradient": 0.5}),
    "lamb": ("lamb", {"learning_rate": 0.01, "wd": 0.01}),
    "lamb_bounds": ("lamb", {"lower_bound": 0.5, "upper_bound": 1.5, "bias_correction": False, "clip_gradient": 0.4}),
    "ftml": ("ftml", {"learning_rate": 0.05, "wd": 0.01, "clip_gradient": 0.5}),
    "ftrl": ("ftrl", {"learning_rate": 0.2, "lamda1": 0.05, "wd": 0.01}),
    "ftrl_clip": ("ftrl", {"learning_rate": 0.2, "beta": 0.5, "clip_gradient": 0.3, "rescale_grad": 0.5}),
    "adagrad": ("adagrad", {"learning_rate": 0.1, "wd": 0.01, "clip_gradient": 0.5}),
    "adadelta": ("adadelta", {"rho": 0.8, "wd": 0.01, "clip_gradient": 0.5}),
    "rmsprop": ("rmsprop", {"learning_rate": 0.01, "wd": 0.01, "clip_weights": 1.0}),
    "rmsprop_centered": ("rmsprop", {"learning_rate": 0.01, "centered": True, "clip_gradient": 0.5, "wd": 0.01}),
    "sgd_float16": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True, "dtype": "float16"}),
    "nag_float16": ("nag", {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True, "dtype": "float16"}),
    "adam_float16": ("adam", {"learning_rate": 0.01, "multi_precision": True, "dtype": "float16"}),
    "lamb_float16": ("lamb", {"learning_rate": 0.01, "multi_precision": True, "dtype": "float16"}),
    "sgd_float64": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "dtype": "float64"}),
    "sgd_scheduled": ("sgd", {"momentum": 0.9, "schedule": ("FactorScheduler", {"step": 3, "factor": 0.5})}),
    "adam_scheduled": ("adam", {"schedule": ("CosineScheduler", {"max_update": 15, "base_lr": 0.1})}),
    "lars_scheduled": (
        "lars",
        {"momentum": 0.9, "eta": 0.1, "schedule": ("PolyScheduler", {"max_update": 18, "base_lr": 0.5})},
    ),
    "group_adagrad": ("groupadagrad", {"learning_rate": 0.1, "clip_gradient": 0.5, "matrices": True}),
    "test": ("test", {"rescale_grad": 0.1}),
}


def arrays(dtype, matrices):
    """First weights, and gradients for every step, the same for everybody."""
    random = np.random.RandomState(7)
    shapes = {n: s for n, s in SHAPES.items() if not matrices or len(s) == 2}
    weights = {n: random.uniform(-1, 1, s).astype(dtype) for n, s in shapes.items()}
    grads = [{n: random.normal(0, 0.5, s).astype(dtype) for n, s in shapes.items()} for _ in range(STEPS)]
    return weights, grads


def make(mx, case, names):
    """The case's optimizer, with a learning rate and a decay of its own for two parameters."""
    name, options = CASES[case]
    options = {k: v for k, v in options.items() if k not in ("dtype", "matrices")}
    if "schedule" in options:
        kind, arguments = options.pop("schedule")
        options["lr_scheduler"] = getattr(mx.lr_scheduler, kind)(**arguments)
    optimizer = mx.optimizer.create(name, param_idx2name=dict(enumerate(names)), **options)
    optimizer.set_lr_mult({"out_weight": 0.5})
    optimizer.set_wd_mult({"conv_weight": 2.0})
    return optimizer


def trajectory(mx, case, together=True):
    """Weights after all steps, all parameters updated in one call or one by one."""
    _, options = CASES[case]
    weights, grads = arrays(options.get("dtype", "float32"), options.get("matrices", False))
    names = list(weights)
    updater = mx.optimizer.get_updater(make(mx, case, names))
    held = [mx.nd.array(weights[n], dtype=weights[n].dtype) for n in names]
    for step in grads:
        given = [mx.nd.array(step[n], dtype=step[n].dtype) for n in names]
        if together:
            updater(list(range(len(names))), given, held)
        else:
            for i, (gradient, weight) in enumerate(zip(given, held)):  # noqa: B905 - MXNet's Python has no strict
                updater(i, gradient, weight)
    return {n: w.asnumpy() for n, w in zip(names, held)}  # noqa: B905

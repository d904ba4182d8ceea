"""8-bit quantization: conversion, ranges, calibration, and layers on integers."""

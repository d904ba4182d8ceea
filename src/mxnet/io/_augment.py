"""MXNet's default image augmenter: resize, affine change, padding, crop and colour, on OpenCV images."""

import math

import numpy as np

from .._core.errors import MXNetError
from .._core.extras import opencv
from .._formats.images import resize

cv2 = opencv()
_EIGENVALUES = (55.46, 4.794, 1.148)
_EIGENVECTORS = ((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203))

RANDOM_INTERPOLATION = 10  # an `inter_method`


def interpolation(method, old_width, old_height, new_width, new_height, engine):
    """OpenCV's code for MXNet's: 9 chooses by the change of size, 10 at random."""
    if method == 9:
        if new_width > old_width and new_height > old_height:
            return cv2.INTER_CUBIC
        if new_width < old_width and new_height < old_height:
            return cv2.INTER_AREA
        return cv2.INTER_LINEAR
    return engine.integer(0, 4) if method == RANDOM_INTERPOLATION else method


def shift_hls(image, hue, lightness, saturation, always=False):
    """Hue, lightness and saturation moved by whole steps; without `always`, moving by nothing changes nothing."""
    if not (hue or lightness or saturation or always):
        return image
    hls = cv2.cvtColor(image, cv2.COLOR_BGR2HLS).astype(np.int16)
    hls += np.array([hue, lightness, saturation], np.int16)
    np.clip(hls, 0, np.array([180, 255, 255], np.int16), out=hls)
    return cv2.cvtColor(hls.astype(np.uint8), cv2.COLOR_HLS2BGR)


class Resizing:
    """What augmenters share: images in other sizes, by the method that the parameters `p` ask for."""

    def _resized(self, image, width, height, engine):
        rows, columns = image.shape[:2]
        method = interpolation(self.p.inter_method, columns, rows, width, height, engine)
        return resize(image, width, height, method)

    def _shorter_edge(self, image, engine):
        rows, columns = image.shape[:2]
        size = self.p.resize
        width, height = (size, size * rows // columns) if rows > columns else (size * columns // rows, size)
        return self._resized(image, width, height, engine)


class DefaultAugmenter(Resizing):
    """Turns a decoded image (height, width, channels in OpenCV's order) into one of `data_shape`."""

    def __init__(self, parameters):
        self.p = p = parameters
        _, self.height, self.width = p.data_shape
        # with one bound given, the aspect ratio varies symmetrically around 1
        self.max_aspect = 1.0 + p.max_aspect_ratio if p.min_aspect_ratio is None else p.max_aspect_ratio
        self.min_aspect = 1.0 - p.max_aspect_ratio if p.min_aspect_ratio is None else p.min_aspect_ratio
        self.affine = (
            p.max_rotate_angle > 0
            or p.max_shear_ratio > 0
            or p.rotate > 0
            or p.max_random_scale != 1.0
            or p.min_random_scale != 1.0
            or p.max_img_size != 1e10
            or p.min_img_size != 0.0
            or (not p.random_resized_crop and (self.min_aspect != 1.0 or self.max_aspect != 1.0))
        )
        if p.inter_method not in (0, 1, 2, 3, 4, 9, 10) or (self.affine and p.inter_method == 0):
            raise MXNetError(
                f"invalid inter_method {p.inter_method}: valid values are 1, 2, 3, 4, 9, 10, and 0 "
                "where the image is not rotated, sheared or scaled"
            )

    def __call__(self, image, engine):
        p = self.p
        if p.resize != -1:
            image = self._shorter_edge(image, engine)
        if self.affine:
            image = self._affine(image, engine)
        if p.pad > 0:
            image = cv2.copyMakeBorder(
                image, p.pad, p.pad, p.pad, p.pad, cv2.BORDER_CONSTANT, value=(p.fill_value,) * 3
            )
        image = self._crop(image, engine)
        if p.brightness > 0 or p.contrast > 0 or p.saturation > 0:
            image = self._jitter(image, engine)
        if p.random_h or p.random_s or p.random_l:
            image = self._shift_hls(image, engine)
        return self._lighting(image, engine) if p.pca_noise > 0 else image

    def _affine(self, image, engine):
        p = self.p
        rows, columns = image.shape[:2]
        f = np.float32
        shear = f(engine.unit() * p.max_shear_ratio * 2 - p.max_shear_ratio)
        angle = engine.integer(-p.max_rotate_angle, p.max_rotate_angle)
        if p.rotate > 0:
            angle = p.rotate
        a, b = f(math.cos(angle / 180.0 * math.pi)), f(math.sin(angle / 180.0 * math.pi))
        scale = f(engine.unit()) * (f(p.max_random_scale) - f(p.min_random_scale)) + f(p.min_random_scale)
        ratio = f(engine.unit()) * (f(self.max_aspect) - f(self.min_aspect)) + f(self.min_aspect)
        high = f(2) * scale / (f(1) + ratio)
        wide = ratio * high
        width = max(f(p.min_img_size), min(f(p.max_img_size), scale * f(columns)))
        height = max(f(p.min_img_size), min(f(p.max_img_size), scale * f(rows)))
        matrix = np.array(
            [[high * a - shear * b * wide, high * b + shear * a * wide, 0], [-b * wide, a * wide, 0]], dtype=f
        )
        matrix[:, 2] = (np.array([width, height], dtype=f) - matrix[:, :2] @ np.array([columns, rows], dtype=f)) / f(2)
        width, height = int(width), int(height)
        method = interpolation(p.inter_method, columns, rows, width, height, engine)
        return cv2.warpAffine(
            image,
            matrix,
            (width, height),
            flags=method,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(p.fill_value,) * 3,
        )

    def _crop(self, image, engine):
        p = self.p
        if p.random_resized_crop and self._varies():
            return self._random_resized_crop(image, engine)
        if p.max_crop_size != -1 or p.min_crop_size != -1:
            return self._random_size_crop(image, engine)
        rows, columns = image.shape[:2]
        if rows < self.height:
            image = self._resized(
                image, int(np.float32(self.height) / np.float32(rows) * np.float32(columns)), self.height, engine
            )
            rows, columns = image.shape[:2]
        if columns < self.width:
            image = self._resized(
                image, self.width, int(np.float32(self.width) / np.float32(columns) * np.float32(rows)), engine
            )
        return self._window(image, self.width, self.height, engine)

    def _window(self, image, width, height, engine):
        rows, columns = image.shape[:2]
        if rows < height or columns < width:
            raise MXNetError(f"input image size smaller than input shape: {rows}x{columns} against {height}x{width}")
        y, x = rows - height, columns - width
        if self.p.rand_crop:
            y = engine.integer(0, y)
            x = engine.integer(0, x)
        else:
            y, x = y // 2, x // 2
        return image[y : y + height, x : x + width]

    def _random_size_crop(self, image, engine):
        p = self.p
        if min(image.shape[:2]) < p.max_crop_size or p.max_crop_size < p.min_crop_size:
            raise MXNetError(
                f"input image size smaller than max_crop_size: {image.shape[0]}x{image.shape[1]} against "
                f"{p.max_crop_size} (min_crop_size {p.min_crop_size})"
            )
        size = engine.integer(p.min_crop_size, p.max_crop_size)
        return self._resized(self._window(image, size, size, engine), self.width, self.height, engine)

    def _random_resized_crop(self, image, engine):
        p = self.p
        rows, columns = image.shape[:2]
        for _ in range(10):
            area = engine.uniform(p.min_random_area, p.max_random_area) * rows * columns
            ratio = engine.uniform(self.min_aspect, self.max_aspect)
            height, width = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
            if engine.unit() > 0.5:
                height, width = width, height
            if height <= rows and width <= columns:
                y = engine.integer(0, rows - height)
                x = engine.integer(0, columns - width)
                return self._resized(image[y : y + height, x : x + width], self.width, self.height, engine)
        size = min(rows, columns)
        y, x = (rows - size) // 2, (columns - size) // 2
        return self._resized(image[y : y + size, x : x + size], self.width, self.height, engine)

    def _varies(self):
        p = self.p
        return (p.max_random_area, p.min_random_area, self.max_aspect, self.min_aspect) != (1.0, 1.0, 1.0, 1.0)

    def _jitter(self, image, engine):
        p = self.p
        factors = [1.0 + engine.uniform(-strength, strength) for strength in (p.brightness, p.contrast, p.saturation)]
        order = [0, 1, 2]
        engine.shuffle(order)
        for kind in order:
            image = _JITTERS[kind](image, factors[kind])
        return image

    def _shift_hls(self, image, engine):
        p = self.p
        if image.ndim != 3 or image.shape[2] != 3:
            return image
        shifts = []
        for limit in (p.random_h, p.random_s, p.random_l):
            draw = (engine.unit() + 4 * engine.unit()) / 5
            shifts.append(int(draw * limit * 2 - limit))
        hue, saturation, lightness = shifts
        return shift_hls(image, hue, lightness, saturation, always=True)

    def _lighting(self, image, engine):
        engine.forget()
        alphas = [engine.normal(self.p.pca_noise) for _ in range(3)]
        shift = np.array([sum(vector[i] * alphas[i] * _EIGENVALUES[i] for i in range(3)) for vector in _EIGENVECTORS])
        return np.clip(image + shift[::-1], 0, 255).astype(np.uint8)


def _brightness(image, factor):
    return cv2.convertScaleAbs(image, alpha=factor)


def _gray(image):
    return cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)


def _contrast(image, factor):
    return _saturated(image, factor, (1 - factor) * cv2.mean(_gray(image))[0])


def _saturated(image, factor, offset):
    return np.clip(np.rint(image * np.float32(factor) + np.float32(offset)), 0, 255).astype(np.uint8)


def _saturation(image, factor):
    gray = cv2.cvtColor(_gray(image), cv2.COLOR_GRAY2BGR)
    return cv2.addWeighted(image, factor, gray, 1 - factor, 0)


_JITTERS = (_brightness, _contrast, _saturation)

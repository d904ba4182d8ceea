"""im2rec: image lists from folders, and record files from image lists."""

import argparse
import contextlib
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from .. import recordio
from .._core.arguments import at_least, share
from .._core.errors import MXNetError
from .._core.extras import opencv
from .._core.progress import progress
from .._formats import image_lists, images
from .._formats.atomic import atomic_write

_AHEAD = 64  # images in work for each thread


def list_image(root, recursive, exts):
    """(number, path below root, label) of the images; with `recursive`, each folder is a class of its own."""
    if not recursive:
        names = (name for name in sorted(os.listdir(root)) if _is_image(os.path.join(root, name), exts))
        yield from ((number, name, 0) for number, name in enumerate(names))
        return
    classes = {}
    number = 0
    for folder, subfolders, names in os.walk(root, followlinks=True):
        subfolders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if _is_image(path, exts):
                yield number, os.path.relpath(path, root), classes.setdefault(folder, len(classes))
                number += 1
    for folder, label in classes.items():
        print(os.path.relpath(folder, root), label)


def _is_image(path, exts):
    return os.path.isfile(path) and os.path.splitext(path)[1].lower() in exts


def write_list(path_out, image_list):
    """A `.lst` file: number, label(s) and path on each line, separated by tabs."""
    with atomic_write(path_out, "w", encoding="utf-8") as file:
        for number, name, *labels in image_list:
            file.write("\t".join([str(number), *(f"{label:f}" for label in labels), name]) + "\n")


def make_list(args):
    """Write the list, or lists: one for each chunk, each cut into test, train and validation parts if asked.

    How many images there are; without any, no list is written.
    """
    listed = list(list_image(args.root, args.recursive, args.exts))
    if not listed:
        return 0
    if args.shuffle:
        random.Random(100).shuffle(listed)
    size = -(-len(listed) // args.chunks)
    for i in range(args.chunks):
        chunk = listed[i * size : (i + 1) * size]
        prefix = args.prefix + (f"_{i}" if args.chunks > 1 else "")
        train, test = int(size * args.train_ratio), int(size * args.test_ratio)
        if args.train_ratio == 1.0:
            write_list(prefix + ".lst", chunk)
            continue
        if args.test_ratio:
            write_list(prefix + "_test.lst", chunk[:test])
        if args.train_ratio + args.test_ratio < 1.0:
            write_list(prefix + "_val.lst", chunk[test + train :])
        write_list(prefix + "_train.lst", chunk[test : test + train])
    return len(listed)


def read_list(path_in):
    """[number, path, label, …] for each good line of a `.lst` file; bad lines are reported and passed over."""
    with open(path_in, encoding="utf-8", errors="replace") as file:  # no image will have such a name
        for count, line in enumerate(file, 1):
            fields = [field.strip() for field in line.strip().split("\t")]
            if len(fields) < 3:
                print(
                    f"{path_in}, line {count}: lst should have at least has three parts, "
                    f"but only has {len(fields)} parts for {fields}"
                )
                continue
            try:
                yield [image_lists.index_of(fields[0]), fields[-1], *(float(label) for label in fields[1:-1])]
            except ValueError as error:
                print(f"{path_in}, line {count}: Parsing lst met error for {fields}, detail: {error}")


def encode(args, item):
    """The record for an item of the list; MXNetError or OSError if its image cannot be read."""
    number, name, *labels = item
    label = labels if len(labels) > 1 and args.pack_label else labels[0]
    header = recordio.IRHeader(0, label, number, 0)
    path = os.path.join(args.root, name)
    content = image_lists.content(path)
    if args.pass_through:
        return recordio.pack(header, content)
    image = images.decode(content, args.color, path)
    if args.center_crop:
        image = _square(image)
    if args.resize:
        image = _resized(image, args.resize)
    return recordio.pack_img(header, image, quality=args.quality, img_fmt=args.encoding)


def _square(image):
    height, width = image.shape[:2]
    margin = abs(height - width) // 2
    return image[margin : margin + width] if height > width else image[:, margin : margin + height]


def _resized(image, size):
    height, width = image.shape[:2]
    if height > width:
        return opencv().resize(image, (size, height * size // width))
    return opencv().resize(image, (width * size // height, size))


def make_record(args, list_path):
    """Write `.rec` and `.idx` beside a list; how many images were written and how many left out."""
    items = list(read_list(list_path))
    stem = os.path.splitext(list_path)[0]
    failed = 0
    with _records(stem) as record, _progress(args, len(items), stem) as bar:
        for item, content in _encoded(args, items):
            if isinstance(content, Exception):
                failed += 1
                print(f"skipped {item[1]} (number {item[0]}): {content}", file=sys.stderr)
            else:
                record.write_idx(item[0], content)
            if bar is not None:
                bar.update()
    return len(items) - failed, failed


@contextlib.contextmanager
def _records(stem):
    """A writer of both files: they get their names when all is written, and are not there if nothing is."""
    parts = [(f"{stem}{suffix}.part", stem + suffix) for suffix in (".idx", ".rec")]
    record = recordio.MXIndexedRecordIO(parts[0][0], parts[1][0], "w")
    try:
        yield record
        record.close()
        if record.keys:
            for part, whole in parts:
                os.replace(part, whole)
    finally:
        record.close()
        for part, _ in parts:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)


def _progress(args, count, stem):
    if args.quiet:
        return contextlib.nullcontext()
    return progress(total=count, unit=" images", desc=os.path.basename(stem))


def _encoded(args, items):
    """Each item with its record or the exception that it raised, in order, worked on by threads."""

    refused = () if args.pass_through else (opencv().error,)  # asked first: without OpenCV every image would fail

    def attempt(item):
        try:
            return item, encode(args, item)
        except (MXNetError, OSError, ValueError, OverflowError, *refused) as error:
            return item, error

    if args.num_thread <= 1:
        yield from map(attempt, items)
        return
    with ThreadPoolExecutor(args.num_thread) as pool:  # OpenCV and files leave the GIL
        source = iter(items)
        pending = [pool.submit(attempt, item) for item in islice(source, _AHEAD * args.num_thread)]
        while pending:
            done, pending = pending[: args.num_thread], pending[args.num_thread :]
            pending.extend(pool.submit(attempt, item) for item in islice(source, len(done)))
            yield from (future.result() for future in done)


def parser():
    """The command line."""
    options = argparse.ArgumentParser(
        prog="im2rec",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Make an image list from a folder (--list), or record files from image lists.",
    )
    options.add_argument("prefix", help="prefix of the .lst, .rec and .idx files")
    options.add_argument("root", help="folder that the images are in")
    lists = options.add_argument_group("image lists")
    lists.add_argument("--list", action="store_true", help="write <prefix>.lst; without it, records are written")
    lists.add_argument("--exts", nargs="+", default=[".jpeg", ".jpg", ".png"], help="extensions that count as images")
    lists.add_argument("--chunks", type=at_least(1), default=1, help="number of lists to cut the images into")
    lists.add_argument("--train-ratio", type=share, default=1.0, help="part of the images for training")
    lists.add_argument("--test-ratio", type=share, default=0, help="part of the images for testing")
    lists.add_argument("--recursive", action="store_true", help="look into folders; each is a class with its own label")
    lists.add_argument("--shuffle", dest="shuffle", action="store_true", default=True, help="mix the order of the list")
    lists.add_argument("--no-shuffle", dest="shuffle", action="store_false", help="keep the order of names")
    records = options.add_argument_group("records")
    records.add_argument("--pass-through", action="store_true", help="pack the files as they are")
    records.add_argument(
        "--resize", type=at_least(0), default=0, help="resize the shorter edge to this length; 0 for not"
    )
    records.add_argument("--center-crop", action="store_true", help="cut images to squares")
    records.add_argument(
        "--quality", type=at_least(1), default=95, help="JPEG quality (1-100) or PNG compression (1-9)"
    )
    records.add_argument(
        "--num-thread", type=at_least(1), default=1, help="threads that read and encode; the order stays"
    )
    records.add_argument(
        "--color",
        type=int,
        default=1,
        choices=[-1, 0, 1],
        help="1 color, 0 grayscale, -1 as the file is, with its alpha channel",
    )
    records.add_argument("--encoding", default=".jpg", choices=[".jpg", ".png"], help="format of the packed images")
    records.add_argument("--pack-label", action="store_true", help="pack all labels of a line, not only the first")
    options.add_argument("--quiet", action="store_true", help="no progress bar")
    return options


def parse_args(arguments=None):
    """The options of a command line, checked."""
    args = parser().parse_args(arguments)
    args.prefix, args.root = os.path.abspath(args.prefix), os.path.abspath(args.root)
    if not os.path.isdir(args.root):
        parser().error(f"{args.root} is not a folder")
    if args.train_ratio + args.test_ratio > 1 + 1e-9:
        parser().error("--train-ratio and --test-ratio are more than 1 together")
    args.exts = [ext if ext.startswith(".") else f".{ext}" for ext in args.exts]
    return args


def main(arguments=None):
    """Run the program; the exit status is 1 if there was no list to work on, or no image that can be read."""
    args = parse_args(arguments)
    if args.list:
        return 0 if make_list(args) else _told(_without_images(args))
    folder = args.prefix if os.path.isdir(args.prefix) else os.path.dirname(args.prefix)
    paths = (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".lst"))
    lists = [path for path in paths if path.startswith(args.prefix)]
    if not lists:
        return _told(f"Did not find and list file with prefix {args.prefix}")
    empty = []
    for path in lists:
        print(f"Creating .rec file from {path} in {folder}")
        written, failed = make_record(args, path)
        print(f"{written} images written, {failed} skipped")
        empty += [] if written else [path]
    return _told(f"no image of {', '.join(empty)} could be read: no records were written for it") if empty else 0


def _without_images(args):
    deeper = "" if args.recursive else "; --recursive looks into the folders below it"
    return f"there are no images ({', '.join(args.exts)}) in {args.root}{deeper}"


def _told(sentence):
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""peer_torch.py - the attention layer, or a step of training, in PyTorch: a peer for bench.

bench starts it and talks to it through two pipes; train/bench_worker.h has the protocol.
Arguments: layer or training, threads, float32 or float64, "NAME=VALUE ..." sizes.
"""
import ctypes
import os
import resource
import sys
import time

BLAS_PARALLEL = {0: "serial", 1: "pthreads", 2: "OpenMP"}


def say(text):
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


try:
    import torch
except ImportError as error:
    say("absent %s" % error)
    sys.exit(0)


def blas_words():
    """The BLAS that torch has loaded: OpenBLAS can be asked, others are told by name."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "blas" in line or "mkl" in line}
    for path in sorted(paths, key=lambda p: "openblas" not in os.path.basename(p)):
        library = ctypes.CDLL(path)
        if hasattr(library, "openblas_get_corename"):
            library.openblas_get_corename.restype = ctypes.c_char_p
            return "OpenBLAS core %s, %s" % (
                library.openblas_get_corename().decode(),
                BLAS_PARALLEL.get(library.openblas_get_parallel(), "unknown threads"))
    return "MKL" if torch.backends.mkl.is_available() else "BLAS unknown"


def set_words():
    """The instruction set of torch's own loops."""
    for line in torch.__config__.show().splitlines():
        if "CPU capability usage" in line:
            return line.split(":")[1].strip()
    return "set unknown"


def words(path):
    return "PyTorch %s, %s, %s, %s" % (torch.__version__, path, set_words(), blas_words())


def forget_memory():
    """From here on getrusage tells the most since now, not since the import."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def read(shape, dtype):
    count = 1
    for n in shape:
        count *= n
    tensor = torch.empty(shape, dtype=dtype)
    into = memoryview((ctypes.c_char * (count * tensor.element_size())).from_address(
        tensor.data_ptr())).cast("B")
    while len(into):
        got = sys.stdin.buffer.readinto(into)
        if not got:
            sys.exit(1)
        into = into[got:]
    return tensor


def write(tensors):
    for tensor in tensors:
        tensor = tensor.detach().contiguous()
        size = tensor.numel() * tensor.element_size()
        sys.stdout.buffer.write((ctypes.c_char * size).from_address(tensor.data_ptr()))
    sys.stdout.buffer.flush()


class Layer:
    """softmax(Q K^T / sqrt(D)) V; W_Q, W_K and W_V in one matrix, all gradients."""

    def __init__(self, sizes, dtype):
        self.B, self.T, self.C, self.H = (int(sizes[name]) for name in "BTCH")
        self.causal, self.dtype = sizes["causal"] == "1", dtype
        self.fused = hasattr(torch.nn.functional, "scaled_dot_product_attention")

    def words(self):
        return words("scaled_dot_product_attention" if self.fused else "math path")

    def begin(self):
        B, T, C = self.B, self.T, self.C
        self.x = read((B, T, C), self.dtype).requires_grad_()
        self.dout = read((B, T, C), self.dtype)
        self.w = torch.cat([read((C, C), self.dtype) for _ in range(3)], 1).requires_grad_()
        if self.causal and not self.fused:
            self.hidden = torch.ones(T, T, dtype=torch.bool).triu(1)

    def attend(self, q, k, v):
        if self.fused:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v,
                                                                    is_causal=self.causal)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / (self.C // self.H) ** 0.5)
        if self.causal:
            scores = scores.masked_fill(self.hidden, float("-inf"))
        return torch.softmax(scores, -1) @ v

    def step(self):
        B, T, C, H = self.B, self.T, self.C, self.H
        self.x.grad = self.w.grad = None
        start = time.perf_counter_ns()
        parts = (self.x @ self.w).split(C, 2)
        q, k, v = (part.view(B, T, H, C // H).transpose(1, 2) for part in parts)
        out = self.attend(q, k, v).transpose(1, 2).reshape(B, T, C)
        middle = time.perf_counter_ns()
        out.backward(self.dout)
        end = time.perf_counter_ns()
        self.out = out.detach()
        return middle - start, end - middle

    def result(self):
        return [self.out, self.x.grad] + list(self.w.grad.split(self.C, 1))


class Training:
    """Embedding, one attention layer with W_O, readout, cross entropy, Adam."""

    def __init__(self, sizes, dtype):
        for name in "B", "T", "fields", "vocabulary", "C", "H", "outputs":
            setattr(self, name, int(sizes[name]))
        self.adam = {"lr": float(sizes["lr"]), "eps": float(sizes["epsilon"]),
                     "betas": (float(sizes["beta1"]), float(sizes["beta2"]))}
        self.dtype = dtype

    def words(self):
        return words("math path, torch.optim.Adam")

    def begin(self):
        B, T, C, V = self.B, self.T, self.C, self.vocabulary
        table = read((V, C), self.dtype)
        # An id of -1 adds nothing: a row of zeros behind the table, which never moves.
        self.table = torch.cat([table, torch.zeros(1, C, dtype=self.dtype)]).requires_grad_()
        self.w = [read((C, C), self.dtype).requires_grad_() for _ in range(4)]
        self.readout = read((C, self.outputs), self.dtype).requires_grad_()
        ids = read((B, T, self.fields), torch.int32).long()
        self.ids = torch.where(ids < 0, torch.full_like(ids, V), ids)
        self.targets = read((B, T), torch.int32).long().view(-1)
        lengths = read((B,), torch.int32).long()
        self.hidden = (torch.arange(T)[None, :] >= lengths[:, None])[:, None, None, :]
        self.optimizer = torch.optim.Adam([self.table, *self.w, self.readout], **self.adam)
        self.first = None

    def loss(self):
        B, T, C, H, D = self.B, self.T, self.C, self.H, self.C // self.H
        x = torch.nn.functional.embedding(self.ids, self.table, padding_idx=self.vocabulary).sum(2)
        q, k, v = ((x @ w).view(B, T, H, D).transpose(1, 2) for w in self.w[:3])
        scores = (q @ k.transpose(-2, -1)) * (1.0 / D ** 0.5)
        p = torch.softmax(scores.masked_fill(self.hidden, float("-inf")), -1)
        out = (p @ v).transpose(1, 2).reshape(B, T, C) @ self.w[3]
        logits = (out @ self.readout).view(B * T, self.outputs)
        return torch.nn.functional.cross_entropy(logits, self.targets, ignore_index=-1)

    def step(self):
        start = time.perf_counter_ns()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        if self.first is None:
            gradients = [self.table.grad[:-1], *(w.grad for w in self.w), self.readout.grad]
            self.first = [gradient.clone() for gradient in gradients]
        self.optimizer.step()
        return time.perf_counter_ns() - start, 0

    def result(self):
        return self.first


def main():
    work, threads, dtype, sizes = sys.argv[1:]
    sizes = dict(pair.split("=") for pair in sizes.split())
    torch.set_num_threads(int(threads))
    peer = {"layer": Layer, "training": Training}[work](sizes, getattr(torch, dtype))
    say("ready " + peer.words())
    forget_memory()
    before = memory()
    peer.begin()
    peer.step()
    say("grew %d" % (memory() - before))
    write(peer.result())
    for line in sys.stdin.buffer:
        if line.strip() == b"end":
            break
        times = [peer.step() for _ in range(int(line))]
        say(" ".join("%d %d" % pair for pair in times))


main()

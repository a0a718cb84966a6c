// Brings many storages together in one stretch of memory. A row of `moves` has the address of a
// storage, its place in the memory, its bytes, and the number of the first chunk that it takes.
// `make kernels` makes gather.ptx from this.

extern "C" __global__ void gather(
    const unsigned long long* moves, unsigned char* memory,
    int num_moves, int num_chunks, int chunk_bytes)
{
    for (int chunk = blockIdx.x; chunk < num_chunks; chunk += gridDim.x) {
        int low = 0, high = num_moves - 1;
        while (low < high) {  // the last move that begins at this chunk or before it
            int middle = (low + high + 1) / 2;
            if (moves[4 * middle + 3] <= (unsigned long long)chunk) low = middle;
            else high = middle - 1;
        }
        const unsigned long long* move = moves + 4 * low;
        long long done = (chunk - (long long)move[3]) * chunk_bytes;
        long long left = (long long)move[2] - done;
        if (left > chunk_bytes) left = chunk_bytes;
        const unsigned char* from = (const unsigned char*)move[0] + done;
        unsigned char* to = memory + move[1] + done;
        bool is_even = (((unsigned long long)from | (unsigned long long)to) & 15) == 0;
        long long num_words = is_even ? left / 16 : 0;
        const uint4* words = (const uint4*)from;
        uint4* places = (uint4*)to;
        long long stride = blockDim.x;
        long long at = threadIdx.x;
        for (; at + 3 * stride < num_words; at += 4 * stride) {  // four reads under way at once
            uint4 first = words[at], second = words[at + stride];
            uint4 third = words[at + 2 * stride], fourth = words[at + 3 * stride];
            places[at] = first;
            places[at + stride] = second;
            places[at + 2 * stride] = third;
            places[at + 3 * stride] = fourth;
        }
        for (; at < num_words; at += stride) places[at] = words[at];
        for (at = 16 * num_words + threadIdx.x; at < left; at += stride) to[at] = from[at];
    }
}

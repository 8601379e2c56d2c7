"""Game of Life on a torus: an odd number of generations, counted exactly by numpy."""

import beaver_check as bc
import numpy as np

HEIGHT, WIDTH, GENERATIONS = 301, 460, 9


def generate() -> None:
    rng = bc.rng()
    for name, value in (("height.i32", HEIGHT), ("width.i32", WIDTH), ("generations.i32", GENERATIONS)):
        bc.write_input(name, [value])
    bc.write_input("cells.u8", rng.integers(0, 3, (HEIGHT, WIDTH)) == 0)


def compare() -> bc.Report:
    cells = bc.read_input("cells.u8", (HEIGHT, WIDTH)).astype(np.int64)
    boards = [cells]
    for _ in range(GENERATIONS):
        board = boards[-1]
        around = sum(
            np.roll(board, (rows, columns), (0, 1)) for rows in (-1, 0, 1) for columns in (-1, 0, 1) if rows or columns
        )
        boards.append(((around == 3) | ((around == 2) & (board == 1))).astype(np.int64))
    return bc.compare("result.u8", boards[-1], bc.EXACT, unlike=boards[:-1])


bc.main(generate, compare)

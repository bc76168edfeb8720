import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CellField,
  cellAt,
  clampViewport,
  fieldFor,
  fontFor,
  labeledLines,
  maxZoom,
  panBy,
  revealCell,
  sizeOf,
  type Viewport,
  WHOLE,
  zoomAt,
} from "../../src/draw/viewport";

const room = fc
  .tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }))
  .map(([rows, columns]) => fieldFor(rows, columns, 500, 600));

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });

/** A field and a place in it. */
const places = room.chain((field) =>
  fc.record({
    field: fc.constant(field),
    port: fc
      .tuple(number(1, maxZoom(field)), number(0, 300), number(0, 300))
      .map(([zoom, left, top]) => clampViewport({ zoom, left, top }, field)),
    x: number(0, sizeOf(field).width),
    y: number(0, sizeOf(field).height),
  }),
);

function expectInside({ zoom, left, top }: Viewport, { rows, columns }: CellField): void {
  expect(zoom).toBeGreaterThanOrEqual(1);
  expect(Math.min(left, top)).toBeGreaterThanOrEqual(0);
  expect(left + columns / zoom).toBeLessThanOrEqual(columns + 1e-6);
  expect(top + rows / zoom).toBeLessThanOrEqual(rows + 1e-6);
}

describe("the room", () => {
  test("has large square cells for few tokens and small ones for many", () => {
    expect(fieldFor(8, 8, 700, 600)).toMatchObject({ wide: 40, tall: 40 });
    expect(fieldFor(40, 40, 700, 600)).toMatchObject({ wide: 15, tall: 15 });
    expect(fieldFor(200, 200, 600, 600)).toMatchObject({ wide: 3, tall: 3 });
  });

  test("is square for as many queries as keys", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900 }), (count) => {
        const { wide, tall } = fieldFor(count, count, 431, 600);
        expect(wide).toBe(tall);
      }),
    );
  });

  test("stretches a short role, so that its tokens can be read", () => {
    expect(fieldFor(12, 200, 600, 600)).toMatchObject({ wide: 3, tall: 14 });
    expect(fieldFor(200, 12, 600, 600)).toMatchObject({ wide: 14, tall: 3 });
  });

  test("never takes more than it is given", () => {
    fc.assert(
      fc.property(room, (field) => {
        expect(sizeOf(field).width).toBeLessThanOrEqual(500 + 1e-6);
        expect(sizeOf(field).height).toBeLessThanOrEqual(600 + 1e-6);
      }),
    );
  });
});

describe("zooming", () => {
  test("keeps what is under the pointer there, as far as the edges allow", () => {
    fc.assert(
      fc.property(places, number(1, 4), ({ field, port, x, y }, factor) => {
        const after = zoomAt(port, field, factor, x, y);
        const place = (p: Viewport) => [
          p.left + x / (field.wide * p.zoom),
          p.top + y / (field.tall * p.zoom),
        ];
        const [before, now] = [place(port), place(after)];
        expect(now[0]).toBeCloseTo(before[0], 5);
        expect(now[1]).toBeCloseTo(before[1], 5);
      }),
    );
  });

  test("and panning never show anything beyond the field", () => {
    fc.assert(
      fc.property(
        places,
        number(0.1, 9),
        number(-999, 999),
        number(-999, 999),
        ({ field, port, x, y }, factor, across, down) => {
          expectInside(zoomAt(port, field, factor, x, y), field);
          expectInside(panBy(port, field, across, down), field);
        },
      ),
    );
  });

  test("out again leads to the whole", () => {
    fc.assert(
      fc.property(places, ({ field, port, x, y }) => {
        expect(zoomAt(port, field, 1e-6, x, y)).toEqual(WHOLE);
      }),
    );
  });

  test("stops where a cell is as large as is useful", () => {
    const field = fieldFor(200, 200, 600, 600);
    expect(zoomAt(WHOLE, field, 1e6, 0, 0).zoom * field.wide).toBeCloseTo(64);
  });
});

test("panning moves by the pixels of the actions", () => {
  const field = fieldFor(100, 100, 600, 600);
  const port = { zoom: 2, left: 20, top: 30 };
  expect(panBy(port, field, 12, -24)).toEqual({ zoom: 2, left: 19, top: 32 });
});

test("a cell is found where it is drawn, and nowhere else", () => {
  fc.assert(
    fc.property(places, ({ field, port, x, y }) => {
      const cell = cellAt(port, field, x, y);
      if (!cell) return;
      const left = (cell.column - port.left) * field.wide * port.zoom;
      expect(x - left).toBeGreaterThanOrEqual(-1e-6);
      expect(x - left).toBeLessThanOrEqual(field.wide * port.zoom + 1e-6);
    }),
  );
  expect(cellAt(WHOLE, fieldFor(4, 4, 100, 100), 30, 80)).toEqual({ row: 3, column: 1 });
  expect(cellAt(WHOLE, fieldFor(4, 4, 100, 100), 101, 10)).toBeNull();
  expect(cellAt(WHOLE, fieldFor(4, 4, 100, 100), 10, -1)).toBeNull();
});

test("a row or a column is brought into sight by the shortest way", () => {
  const field = fieldFor(100, 100, 600, 600);
  const port = { zoom: 4, left: 10, top: 50 };
  expect(revealCell(port, field, { row: 60 })).toEqual(port);
  expect(revealCell(port, field, { row: 20 }).top).toBe(20);
  expect(revealCell(port, field, { row: 90 }).top).toBe(66);
  expect(revealCell(port, field, { column: 99 })).toEqual({ zoom: 4, left: 75, top: 50 });
  expect(revealCell(port, field, {})).toEqual(port);
});

describe("labels", () => {
  const all = { first: 0, seen: 200, count: 200 };

  test("stand at every line when there is room, else at every n-th", () => {
    expect(labeledLines({ first: 0, seen: 4, count: 4 }, 20, null)).toEqual([0, 1, 2, 3]);
    expect(labeledLines(all, 3, null).slice(0, 3)).toEqual([0, 4, 8]);
  });

  test("always stand at the token in focus, and its neighbors make room", () => {
    const found = labeledLines(all, 3, 6);
    expect(found).toContain(6);
    expect(found).not.toContain(4);
    expect(found).not.toContain(8);
  });

  test("follow what is in sight", () => {
    expect(labeledLines({ first: 50.2, seen: 3, count: 200 }, 20, null)).toEqual([50, 51, 52]);
    expect(labeledLines({ first: 50, seen: 3, count: 200 }, 20, 7)).not.toContain(7);
  });

  test("are never closer than letters of 9 pixels need", () => {
    fc.assert(
      fc.property(number(0.5, 40), fc.integer({ min: 1, max: 300 }), (pitch, count) => {
        const found = labeledLines({ first: 0, seen: count, count }, pitch, null);
        for (let at = 1; at < found.length; at++) {
          expect((found[at] - found[at - 1]) * pitch).toBeGreaterThanOrEqual(11 - 1e-9);
        }
      }),
    );
    expect([fontFor(3), fontFor(15), fontFor(40)]).toEqual([9, 11, 13]);
  });
});

import { describe, expect, test } from "vitest";
import { fullShare, shareColumn } from "../../../src/views/flow/shares";

const COLORS = ["#001122", "#aabbcc"] as const;

function shown(shares: number[], full: number) {
  const column = shareColumn();
  const show = (now: number[]) => column.show(now, full, COLORS);
  show(shares);
  const rows = () => [...column.node.querySelectorAll("li")];
  const numbers = () => rows().map((row) => row.querySelector("span")?.textContent);
  const bars = () => rows().map((row) => row.querySelector("i")?.style);
  return { column, show, rows, numbers, bars };
}

describe("the column of shares", () => {
  test("has a bar for each key, as long as its share of a full bar", () => {
    const { bars } = shown([0.5, 0.25, 0], 0.5);
    expect(bars().map((style) => style?.width)).toEqual(["60px", "30px", "0px"]);
  });

  test("has numbers of the larger shares only", () => {
    expect(shown([0.5, 0.046, 0.044], 1).numbers()).toEqual(["50%", "4.6%", ""]);
  });

  test("has a color for each sign, and writes the sign", () => {
    const { bars, numbers } = shown([0.2, -0.2], 0.2);
    expect(bars().map((style) => style?.background)).toEqual([...COLORS]);
    expect(bars().map((style) => style?.width)).toEqual(["60px", "60px"]);
    expect(numbers()).toEqual(["20%", "−20%"]);
  });

  test("keeps its elements while there are as many, so that they can move", () => {
    const { rows, show, numbers } = shown([0.1, 0.2], 0.2);
    const before = rows();
    show([0.2, 0.1]);
    expect(rows().every((row, at) => row === before[at])).toBe(true);
    expect(numbers()).toEqual(["20%", "10%"]);
    show([0.1]);
    expect(rows()).toHaveLength(1);
    show([0.1, 0.2, 0.1]);
    expect(numbers()).toEqual(["10%", "20%", "10%"]);
  });

  test("is not read aloud, because the table is", () => {
    expect(shown([1], 1).column.node.getAttribute("aria-hidden")).toBe("true");
  });
});

test("a full bar is the largest share of all columns, signs aside", () => {
  expect(fullShare([[0.1, 0.3], [0.2]])).toBe(0.3);
  expect(fullShare([[0.1], [-0.4, 0.3]])).toBe(0.4);
  expect(fullShare([[0, 0]])).toBe(1);
});

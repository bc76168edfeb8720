import { describe, expect, test, vi } from "vitest";
import { menu } from "../../src/app/menu";
import { element } from "../../src/draw/dom";
import { scoped } from "../support/scope";

const scope = scoped();

function shown() {
  const inside = element("button", {}, "inside");
  const outside = element("button", {}, "outside");
  const { node, title } = menu(inside, scope.signal);
  document.body.append(node, outside);
  const box = node.querySelector(".nv-popup") as HTMLElement;
  const isOpen = () => {
    expect(title.getAttribute("aria-expanded")).toBe(String(!box.hidden));
    return !box.hidden;
  };
  const press = (on: HTMLElement, key: string) =>
    on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const point = (at: HTMLElement) =>
    at.dispatchEvent(new Event("pointerdown", { bubbles: true, composed: true }));
  return { title, inside, outside, isOpen, press, point };
}

describe("a menu", () => {
  test("opens and closes by its button", () => {
    const { title, isOpen } = shown();
    expect(isOpen()).toBe(false);
    title.click();
    expect(isOpen()).toBe(true);
    title.click();
    expect(isOpen()).toBe(false);
  });

  test("closes at Escape, which goes no further, and gives the focus back", () => {
    const { title, inside, isOpen, press } = shown();
    const page = vi.fn();
    document.body.addEventListener("keydown", page, { signal: scope.signal });
    title.click();
    inside.focus();
    press(inside, "Enter");
    expect(isOpen()).toBe(true);
    page.mockClear();
    press(inside, "Escape");
    expect(isOpen()).toBe(false);
    expect(page).not.toHaveBeenCalled();
    expect(document.activeElement).toBe(title);
  });

  test("leaves Escape to the page while it is closed", () => {
    const { title, press } = shown();
    const page = vi.fn();
    document.body.addEventListener("keydown", page, { signal: scope.signal });
    press(title, "Escape");
    expect(page).toHaveBeenCalledOnce();
  });

  test("closes at a press elsewhere, and stays open at one inside", () => {
    const { title, inside, outside, isOpen, point } = shown();
    title.click();
    point(inside);
    expect(isOpen()).toBe(true);
    point(outside);
    expect(isOpen()).toBe(false);
  });

  test("listens no longer after the end", () => {
    const { title, outside, isOpen, point } = shown();
    title.click();
    scope.abort();
    point(outside);
    expect(isOpen()).toBe(true);
  });
});

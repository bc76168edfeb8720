import { describe, expect, test, vi } from "vitest";
import { button, markPressed, toolbar } from "../../src/draw/dom";
import { scoped } from "../support/scope";

const scope = scoped();

/** A toolbar on the page with such buttons; those with a star cannot be pressed. */
function shown(...labels: string[]) {
  const { node, fill } = toolbar("letters", "nv-segmented", scope.signal);
  const make = () =>
    labels.map((label) => {
      const made = button(label.replace("*", ""), `the ${label}`, () => {}, scope.signal);
      made.disabled = label.endsWith("*");
      return made;
    });
  const buttons = fill("all", make) as HTMLButtonElement[];
  document.body.append(node);
  const press = (key: string) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    document.activeElement?.dispatchEvent(event);
    return event;
  };
  return { node, buttons, press, focused: () => document.activeElement?.textContent };
}

describe("a toolbar", () => {
  test("has a name, and one stop for the Tab key: the button that is pressed", () => {
    const { node, buttons } = shown("a", "b", "c");
    markPressed(buttons, (index) => index === 1);
    expect([node.getAttribute("role"), node.getAttribute("aria-label")]).toEqual([
      "toolbar",
      "letters",
    ]);
    expect(buttons.map(({ tabIndex }) => tabIndex)).toEqual([-1, 0, -1]);
    expect(buttons.map((made) => made.getAttribute("aria-pressed"))).toEqual([
      ...["false", "true", "false"],
    ]);
  });

  test("can be reached where no button is pressed", () => {
    const { buttons } = shown("a", "b");
    markPressed(buttons, () => false);
    expect(buttons.map(({ tabIndex }) => tabIndex)).toEqual([0, -1]);
  });

  test("has arrows that move inside it, up to its ends and over what is disabled", () => {
    const { buttons, press, focused } = shown("a", "b*", "c");
    buttons[0].focus();
    press("ArrowRight");
    expect(focused()).toBe("c");
    press("ArrowRight");
    expect(focused()).toBe("c");
    press("ArrowLeft");
    press("ArrowLeft");
    expect(focused()).toBe("a");
  });

  test("keeps these arrows from the page, which moves between tokens, and no other key", () => {
    const { buttons, press } = shown("a", "b");
    const outside = vi.fn();
    document.body.addEventListener("keydown", outside, { signal: scope.signal });
    buttons[0].focus();
    expect(press("ArrowRight").defaultPrevented).toBe(true);
    expect(outside).not.toHaveBeenCalled();
    expect(press("ArrowDown").defaultPrevented).toBe(false);
    expect(outside).toHaveBeenCalledOnce();
  });
});

test("a button is named by its text, and its title says more", () => {
  const made = button("all", "all heads", () => {}, scope.signal);
  expect([made.textContent, made.title]).toEqual(["all", "all heads"]);
  expect(made.hasAttribute("aria-label")).toBe(false);
});

test("buttons outside a toolbar are all stops of the Tab key", () => {
  const buttons = ["a", "b"].map((label) => button(label, label, () => {}, scope.signal));
  markPressed(buttons, (index) => index === 1);
  expect(buttons.map(({ tabIndex }) => tabIndex)).toEqual([0, 0]);
});

describe("a button", () => {
  test.each([
    ["next", null],
    ["‖αf(x)‖", null],
    ["3", null],
    ["›", "the next match"],
    ["+", "the next match"],
    ["", "the next match"],
  ])("is named by its text, or by its title if that has no word: %j", (label, name) => {
    const made = button(label, "the next match", () => {}, scope.signal);
    expect(made.getAttribute("aria-label")).toBe(name);
    expect(made.title).toBe("the next match");
  });
});

import type { Locator, Page } from "playwright-core";

import { findBarriers, findOverflow } from "./browser.ts";

/** How a reader works the controls of pages: `keys` are Tab, Enter, Space and what is typed. */
export type Hand = "pointer" | "keys";

/** More presses of Tab than these lead around any page of the stories. */
const TABS_MAX = 150;

type Role = "link" | "button" | "searchbox" | "textbox" | "combobox" | "checkbox";

/** A reader's way through pages, each of which is looked at once it is there. */
export class Walk {
  /** Faults of the pages, by address. */
  readonly faults: Record<string, unknown> = {};

  private readonly page: Page;
  private readonly hand: Hand;
  /**
   * Whether axe looks at the pages. It needs scripts; a page without them has the same document,
   * and keys work what the pointer works.
   */
  private readonly isAudited: boolean;
  private readonly looked = new Set<string>();

  constructor(page: Page, { hand, isScripted }: { hand: Hand; isScripted: boolean }) {
    this.page = page;
    this.hand = hand;
    this.isAudited = isScripted && hand === "pointer";
  }

  /** Opens an address, as by a bookmark. */
  open(url: string, title: string): Promise<void> {
    return this.arrive(title, () => this.page.goto(url));
  }

  /** Follows a link to a page with a title: of the whole page, or of one of its navigations. */
  follow(name: string, title: string, navigation?: string): Promise<void> {
    const part = navigation && this.page.getByRole("navigation", { name: navigation, exact: true });
    return this.arrive(title, () => this.activate(this.find("link", name, part || this.page)));
  }

  /** Follows a link that opens a form, in its place where there are scripts. */
  async unfold(name: string): Promise<void> {
    await this.activate(this.find("link", name));
  }

  /** Presses a button that leads to a page with a title. */
  press(name: string, title: string): Promise<void> {
    return this.arrive(title, () => this.activate(this.find("button", name)));
  }

  /** Opens or closes a menu, which must fit the window. */
  async toggle(name: string): Promise<void> {
    const names = this.page
      .getByLabel(name, { exact: true })
      .or(this.page.getByText(name, { exact: true }));
    await this.activate(this.page.locator("summary").and(names).first());
    await this.look([], `: menu ${name}`);
  }

  async type(
    role: "searchbox" | "textbox" | "combobox",
    name: string,
    text: string,
  ): Promise<void> {
    const field = this.find(role, name);
    if (this.hand === "pointer") return field.fill(text);
    await this.tabTo(field);
    await this.page.keyboard.press("ControlOrMeta+A");
    await this.page.keyboard.type(text);
  }

  async check(name: string): Promise<void> {
    const box = this.find("checkbox", name);
    if (this.hand === "pointer") return box.check();
    await this.tabTo(box);
    await this.page.keyboard.press("Space");
  }

  private find(role: Role, name: string, part: Page | Locator = this.page): Locator {
    return part.getByRole(role, { name, exact: true }).filter({ visible: true }).first();
  }

  private async activate(locator: Locator): Promise<void> {
    if (this.hand === "pointer") return locator.click();
    await this.tabTo(locator);
    await this.page.keyboard.press("Enter");
  }

  /** Goes to a control by Tab; each control on the way must show that it has the focus. */
  private async tabTo(locator: Locator): Promise<void> {
    const control = await locator.elementHandle();
    for (let at = 0; at < TABS_MAX; at++) {
      const { isThere, hidden } = await this.page.evaluate((target) => {
        const focused = document.activeElement ?? document.body;
        // A browser outlines the part of a date that has the focus.
        const isShown =
          focused.matches("body, #main, [type=date]") ||
          getComputedStyle(focused).outlineStyle !== "none";
        return { isThere: focused === target, hidden: isShown ? undefined : focused.outerHTML };
      }, control);
      if (hidden !== undefined) this.faults[`${this.page.url()}: focus`] = hidden;
      if (isThere) return;
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not lead to ${String(locator)}`);
  }

  /** Waits for the page that an action leads to, and looks at it. */
  private async arrive(title: string, act: () => Promise<unknown>): Promise<void> {
    await Promise.all([this.page.waitForEvent("load"), act()]);
    const url = this.page.url();
    const shown = await this.page.title();
    if (!shown.includes(title)) throw new Error(`${url} is "${shown}", not "${title}"`);
    const isKnown = this.looked.has(url);
    this.looked.add(url);
    await this.look(this.isAudited && !isKnown ? await this.findBarriers() : []);
  }

  private async look(barriers: readonly string[], place = ""): Promise<void> {
    const overflow = await findOverflow(this.page);
    if (overflow === 0 && barriers.length === 0) return;
    this.faults[this.page.url() + place] = { overflow, barriers };
  }

  /** In both color schemes, which differ in nothing but colors. */
  private async findBarriers(): Promise<string[]> {
    const light = await findBarriers(this.page);
    await this.page.emulateMedia({ colorScheme: "dark" });
    const dark = await findBarriers(this.page, ["color-contrast"]);
    await this.page.emulateMedia({ colorScheme: "light" });
    return [...light, ...dark];
  }
}

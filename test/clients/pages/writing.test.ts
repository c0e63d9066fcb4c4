import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { startService } from "../../scripts/support/service.ts";
import { administratorOf, type Call, PASSWORD } from "./administrator.ts";
import { browserPath, findBarriers, launch, openTab } from "./browser.ts";

// The field for texts, in Chromium: what its script adds, and what works without it.

if (browserPath === undefined) console.log("no Chromium: the field for texts is skipped");

let data: string;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Browser;
let call: Call;

beforeAll(async () => {
  if (browserPath === undefined) return;
  data = mkdtempSync(join(tmpdir(), "edgeforge-writing-"));
  service = await startService(
    { path: inProject(".") },
    { EDGEFORGE_DATA: data, EDGEFORGE_ADMIN_USER: "root", EDGEFORGE_ADMIN_PASSWORD: PASSWORD },
  );
  call = administratorOf(service.url);
  await call("POST", "/user/repos", { name: "loom", auto_init: true });
  for (const name of ["ada", "grace"]) {
    await call("POST", "/admin/users", {
      username: name,
      email: `${name}@example.org`,
      password: PASSWORD,
      must_change_password: false,
    });
    await call("PUT", `/repos/root/loom/collaborators/${name}`, { permission: "write" });
  }
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  if (data) rmSync(data, { recursive: true, force: true });
});

const SOURCE = "> old\n\nwith **bold**";

/** A new issue, by its path. */
async function openIssue(title = "Threads tear"): Promise<string> {
  const issue = await call("POST", "/repos/root/loom/issues", { title, body: SOURCE });
  return `/root/loom/issues/${(issue as { number: number }).number}`;
}

async function signIn(page: Page, name: string): Promise<void> {
  await page.goto(`${service.url}/user/login`);
  await page.fill("[name=user_name]", name);
  await page.fill("[name=password]", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${service.url}/`);
}

interface Writing {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly area: Locator;
  readonly path: string;
}

/** Writes on the page of an issue, as a user who is signed in. */
async function write(
  work: (writing: Writing) => Promise<void>,
  { name = "ada", isScripted = true } = {},
): Promise<void> {
  const path = await openIssue();
  const context = await browser.newContext({ javaScriptEnabled: isScripted });
  const { page, complaints } = await openTab(context);
  await signIn(page, name);
  await page.goto(service.url + path);
  await work({ page, context, path, area: page.locator("#new-comment textarea") });
  expect(complaints).toEqual([]);
  await context.close();
}

const selectAll = "ControlOrMeta+A";

describe.skipIf(browserPath === undefined)("the field for a text", () => {
  it("has a preview in its place, and one in another tab without scripts", () =>
    write(async ({ page, area }) => {
      await area.fill("See #1, **bold**");
      await page.getByRole("tab", { name: "Preview" }).click();
      const panel = page.getByRole("tabpanel", { name: "Preview" });
      await panel.getByText("bold").waitFor();
      expect(await panel.getByRole("link", { name: "#1" }).getAttribute("href")).toContain(
        "/loom/",
      );
      expect(await area.isVisible()).toBe(false);
      expect(await findBarriers(page)).toEqual([]);
      await page.keyboard.press("ArrowLeft");
      expect(await area.inputValue()).toBe("See #1, **bold**");
      expect(await area.isVisible()).toBe(true);
      await write(
        async (plain) => {
          await plain.area.fill("**bold**");
          const opened = plain.context.waitForEvent("page");
          await plain.page.getByRole("button", { name: "Preview" }).click();
          const shown = await opened;
          await shown.locator("#preview strong").waitFor();
          expect(await plain.area.inputValue()).toBe("**bold**");
        },
        { isScripted: false },
      );
    }));

  it("has a tool bar whose work the browser undoes", () =>
    write(async ({ page, area }) => {
      const tools = page.getByRole("toolbar", { name: "Format Comment" });
      const press = (name: string) => tools.getByRole("button", { name, exact: true }).click();
      await area.fill("word");
      await page.keyboard.press(selectAll);
      await page.keyboard.press("ControlOrMeta+B");
      expect(await area.inputValue()).toBe("**word**");
      await page.keyboard.press("ControlOrMeta+B");
      expect(await area.inputValue()).toBe("word");
      await press("Italic");
      expect(await area.inputValue()).toBe("_word_");
      await page.keyboard.press("ControlOrMeta+Z");
      expect(await area.inputValue()).toBe("word");
      await area.fill("one\ntwo");
      for (const [name, text] of [
        ["Task list", "- [ ] one\n- [ ] two"],
        ["Task list", "one\ntwo"],
        ["Numbered list", "1. one\n2. two"],
        ["Numbered list", "one\ntwo"],
        ["Quote", "> one\n> two"],
      ] as const) {
        await page.keyboard.press(selectAll);
        await press(name);
        expect(await area.inputValue()).toBe(text);
      }
      await area.fill("https://example.org");
      await page.keyboard.press(selectAll);
      await page.keyboard.press("ControlOrMeta+K");
      await page.keyboard.type("name");
      expect(await area.inputValue()).toBe("[name](https://example.org)");
      // The bar is one stop of the Tab key, and arrows lead through it.
      await page.keyboard.press("Shift+Tab");
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
      const first = await focused();
      await page.keyboard.press("End");
      expect([first, await focused()]).toEqual(["Heading", "Task list"]);
    }));

  it("keeps a draft until it is sent, for nobody else and not beyond a sign-out", () =>
    write(async ({ page, area, path, context }) => {
      const drafts = () =>
        page.evaluate(
          () => Object.keys(localStorage).filter((key) => key.includes("draft")).length,
        );
      await area.fill("typed");
      await page.reload();
      expect(await area.inputValue()).toBe("typed");
      await page.getByRole("button", { name: "Discard it" }).click();
      expect(await area.inputValue()).toBe("");
      await area.fill("typed again");
      // The session ends, and the form is sent.
      const cookies = await context.cookies();
      await context.clearCookies();
      await page.getByRole("button", { name: "Comment", exact: true }).click();
      await page.getByRole("heading", { name: "Your text was not sent" }).waitFor();
      await context.addCookies(cookies);
      await page.goto(service.url + path);
      expect(await area.inputValue()).toBe("typed again");
      expect(await drafts()).toBe(1);
      await page.getByRole("button", { name: "Comment", exact: true }).click();
      await page.waitForURL("**entry=*");
      expect(await area.inputValue()).toBe("");
      expect(await drafts()).toBe(0);
      // A text that somebody else has changed meanwhile is not replaced unless its writer says so.
      const edited = page.locator("textarea[id^=edit-]");
      await page.goto(`${service.url}${path}?edit=body`);
      await edited.fill("mine");
      await page.goto(service.url + path);
      await call("PATCH", `/repos${path}`, { body: "theirs" });
      await page.goto(`${service.url}${path}?edit=body`);
      expect(await edited.inputValue()).toBe("theirs");
      await page.getByRole("button", { name: "Use it" }).click();
      expect(await edited.inputValue()).toBe("mine");
      await page.goto(service.url + path);
      expect(await drafts()).toBe(1);
      await page.getByLabel("Menu of ada").click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL((url) => url.pathname !== path);
      expect(await drafts()).toBe(0);
    }));

  it("uploads what is chosen, dropped and pasted, and links it where it stood", () =>
    write(async ({ page, area, path }) => {
      const dot = Buffer.from(
        "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
        "base64",
      ).toString("latin1");
      await area.fill("before  after");
      await area.evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(7, 7));
      await page.locator("#new-comment [type=file]").setInputFiles([
        { name: "one.gif", mimeType: "image/gif", buffer: Buffer.from(dot, "latin1") },
        { name: "bad.exe", mimeType: "text/plain", buffer: Buffer.from("x") },
      ]);
      await page.getByText(/^bad\.exe: .*forbidden/).waitFor();
      expect(await area.inputValue()).toMatch(
        /^before !\[one\.gif\]\(\/attachments\/[-\w]{36}\) after$/,
      );
      for (const type of ["paste", "drop"]) {
        await area.evaluate((field: HTMLTextAreaElement, event) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([event], `${event}.txt`));
          const init = {
            clipboardData: transfer,
            dataTransfer: transfer,
            bubbles: true,
            cancelable: true,
          };
          field.dispatchEvent(
            event === "paste" ? new ClipboardEvent(event, init) : new DragEvent(event, init),
          );
        }, type);
        await expect
          .poll(() => area.inputValue())
          .toMatch(new RegExp(`\\[${type}\\.txt\\]\\(/att`));
      }
      await page.getByRole("tab", { name: "Preview" }).click();
      await page.locator(".text-preview img").waitFor();
      const isShown = () =>
        page
          .locator(".text-preview img")
          .evaluate((image: HTMLImageElement) => image.naturalWidth > 0);
      await expect.poll(isShown).toBe(true);
      await page.getByRole("button", { name: "Comment", exact: true }).click();
      await page.waitForURL("**entry=*");
      const comments = await call("GET", `/repos${path}/comments`);
      expect((comments as { assets: unknown[] }[])[0]?.assets).toMatchObject([
        { name: "one.gif" },
        { name: "paste.txt" },
        { name: "drop.txt" },
      ]);
      await write(
        async (plain) => {
          await plain.page.locator("#new-comment [type=file]").setInputFiles({
            name: "plain.txt",
            mimeType: "text/plain",
            buffer: Buffer.from("x"),
          });
          await plain.area.fill("still here");
          const opened = plain.context.waitForEvent("page");
          await plain.page.getByRole("button", { name: "Upload" }).click();
          await (await opened).getByText("[plain.txt](/attachments/").waitFor();
          expect(await plain.area.inputValue()).toBe("still here");
        },
        { isScripted: false },
      );
    }));

  it("suggests issues and users while their references are typed", () =>
    write(async ({ page, area, path }) => {
      const list = page.getByRole("listbox", { name: "Suggestions" });
      const number = path.split("/").at(-1) ?? "";
      await area.pressSequentially(`(#${number}`);
      await list.getByRole("option", { name: `#${number} Threads tear` }).waitFor();
      expect(await area.getAttribute("aria-activedescendant")).toBe("body-suggestions-0");
      expect(await findBarriers(page)).toEqual([]);
      await page.keyboard.press("Enter");
      expect(await area.inputValue()).toBe(`(#${number} `);
      expect(await list.isVisible()).toBe(false);
      await area.pressSequentially("@");
      const options = list.getByRole("option");
      await options.first().waitFor();
      // First who takes part in the conversation.
      expect(await options.first().textContent()).toContain("@root");
      await page.keyboard.press("ArrowUp");
      const last = await options.last().getAttribute("data-text");
      await page.keyboard.press("Tab");
      expect(await area.inputValue()).toBe(`(#${number} ${last} `);
      await area.pressSequentially("@gra");
      await list.getByRole("option", { name: "@grace" }).click();
      expect(await area.inputValue()).toBe(`(#${number} ${last} @grace `);
      await area.pressSequentially("@ada");
      await list.waitFor();
      await page.keyboard.press("Escape");
      expect(await list.isVisible()).toBe(false);
      expect(await area.inputValue()).toContain("@ada");
    }));

  it("is equipped where another script puts it into the page", () =>
    write(async ({ page, path }) => {
      await page.evaluate(async (address) => {
        const answer = await fetch(address);
        const other = new DOMParser().parseFromString(await answer.text(), "text/html");
        const form = other.querySelector("form:has([id^=edit-])");
        if (form) document.querySelector(".timeline")?.insertAdjacentElement("afterend", form);
      }, `${path}?edit=body`);
      await page
        .getByRole("toolbar", { name: "Format Text" })
        .getByLabel("List", { exact: true })
        .click();
      expect(await page.locator("textarea[id^=edit-]").inputValue()).toBe(`- ${SOURCE}`);
      expect(await page.getByRole("tab").count()).toBe(4);
    }));

  it("takes quotes beside what was typed, and what is sent has the focus", () =>
    write(async ({ page, area, path }) => {
      await area.fill("mine");
      await page.getByRole("link", { name: "Quote" }).click();
      await expect.poll(() => area.inputValue()).toBe("mine\n\n> > old\n> \n> with **bold**\n\n");
      await page.getByRole("button", { name: "Comment", exact: true }).click();
      await page.waitForURL(`${service.url}${path}?entry=*`);
      const focused = page.locator("li.comment:focus");
      expect(await focused.textContent()).toContain("mine");
    }));
});

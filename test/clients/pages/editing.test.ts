import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  type Caller,
  callApi,
  makeRepo,
  makeUser,
  type Repo,
  serviceUrl,
} from "../support/forge.ts";
import { clone, git, makeDirectory } from "../support/git.ts";
import { browserPath, findBarriers, findOverflow, launch, openTab } from "./browser.ts";

// Files that are written in the browser, with its scripts and without: what git sees of them.

const WAYS = [
  { width: 1280, isScripted: true, colorScheme: "light" },
  { width: 390, isScripted: false, colorScheme: "dark" },
] as const;

if (browserPath === undefined) console.log("no Chromium: writing files is skipped");

let browser: Browser;
beforeAll(async () => {
  if (browserPath !== undefined) browser = await launch();
});
afterAll(async () => {
  await browser?.close();
});

type Way = (typeof WAYS)[number];

interface Scene {
  readonly page: Page;
  readonly account: Caller;
  readonly repo: Repo;
  /** The page of the repository. */
  readonly root: string;
}

/** Signs an account in, which owns a repository with a README. */
async function write(way: Way, work: (scene: Scene) => Promise<void>): Promise<void> {
  const account = await makeUser();
  const repo = await makeRepo(account);
  await callApi(account, "POST", `${repo.path}/contents/README.md`, { content: btoa("# Loom\n") });
  const { width, isScripted, colorScheme } = way;
  const context = await browser.newContext({
    javaScriptEnabled: isScripted,
    viewport: { width, height: 900 },
    colorScheme,
  });
  const { page, complaints } = await openTab(context);
  await page.goto(`${serviceUrl}/user/login`);
  await page.fill("[name=user_name]", account.name);
  await page.fill("[name=password]", account.password);
  await page.click("main button[type=submit]");
  await page.waitForURL(`${serviceUrl}/`);
  const root = `${serviceUrl}/${account.name}/${repo.name}`;
  await page.goto(root);
  await work({ page, account, repo, root });
  expect(complaints).toEqual([]);
  await context.close();
}

/** Writes the content of a file: into the editor, or into the plain field without scripts. */
async function fill(page: Page, { isScripted }: Way, text: string): Promise<void> {
  if (!isScripted) {
    await page.fill("#content", text);
    return;
  }
  await page.locator(".cm-content").click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

const commit = (page: Page, name = "Commit") =>
  page.getByRole("button", { name, exact: true }).click();

describe.skipIf(browserPath === undefined).each(WAYS)(
  "files that are written in the browser ($width pixels, scripts: $isScripted)",
  (way) => {
    it("become commits that git sees, with their author and sign-off", () =>
      write(way, async ({ page, account, repo, root }) => {
        await page.getByRole("link", { name: "README.md", exact: true }).first().click();
        await page.getByRole("link", { name: "Edit", exact: true }).click();
        await fill(page, way, "# Loom\n\nIt *weaves*.\n");
        // What finds barriers is a script itself.
        expect(way.isScripted ? await findBarriers(page) : []).toEqual([]);
        expect(await findOverflow(page)).toBeLessThanOrEqual(0);

        await page.getByRole("button", { name: "Show changes" }).click();
        await page.getByText("2 added, 0 removed").waitFor();
        await page.getByRole("button", { name: "Preview" }).click();
        await page.locator("#editor-result em").waitFor();
        await page.getByLabel("Summary").fill("Say what it does");
        await page.getByLabel("Description").fill("In a word.");
        await page.getByLabel("Add a line Signed-off-by").check();
        await commit(page);
        await page.waitForURL(`${root}/src/branch/main/README.md`);

        const work = await clone(repo.ownUrl);
        const log = await git(work, ["log", "-1", "--format=%an <%ae>%n%B"]);
        expect(log.trim()).toBe(
          `${account.name} <${account.name}@example.com>\nSay what it does\n\nIn a word.\n\nSigned-off-by: ${account.name} <${account.name}@example.com>`,
        );
        expect(await git(work, ["show", "HEAD:README.md"])).toBe("# Loom\n\nIt *weaves*.");
      }));

    it("begin a branch, of which a pull request is opened", () =>
      write(way, async ({ page, root }) => {
        await page.goto(`${root}/_new/main/docs`);
        await page.getByLabel("Path").fill("docs/weaving/twill.md");
        await fill(page, way, "Over two, under two.\n");
        await page.getByLabel("Commit to a new branch").check();
        await page.getByRole("textbox", { name: "New branch" }).fill("twill");
        await commit(page);
        await page.waitForURL(`${root}/compare/main...twill`);
        await page.getByRole("button", { name: "Open pull request" }).click();
        await page.waitForURL(/\/pulls\/\d+$/);
        expect(await page.locator("h2").first().innerText()).toContain("#1");
      }));

    it("show both texts after a lost race, and lose none", () =>
      write(way, async ({ page, account, repo, root }) => {
        await page.goto(`${root}/_edit/main/README.md`);
        await fill(page, way, "# Mine\n");
        const path = `${repo.path}/contents/README.md`;
        const { sha } = await callApi<{ sha: string }>(account, "GET", path);
        await callApi(account, "PUT", path, { content: btoa("# Theirs\n"), sha });
        await commit(page);
        await page.getByText("Somebody else has changed the file meanwhile").waitFor();
        await page.getByText("# Theirs").waitFor();
        expect(await page.locator("#content").inputValue()).toBe("# Mine\n");
        await commit(page);
        await page.waitForURL(`${root}/src/branch/main/README.md`);
        await page.getByRole("heading", { name: "Mine" }).waitFor();
      }));

    it("come from a directory of thirty files as one commit", () =>
      write(way, async ({ page, repo, root }) => {
        const folder = join(makeDirectory(), "site");
        mkdirSync(join(folder, "pages"), { recursive: true });
        for (let at = 0; at < 30; at++) {
          writeFileSync(join(folder, "pages", `${at}.html`), `page ${at}`);
        }
        await page.goto(`${root}/_upload/main`);
        await page.locator("#directory").setInputFiles(folder);
        if (way.isScripted) await page.getByText("30 chosen").waitFor();
        await commit(page, "Commit the files");
        await page.waitForURL((url) => !url.pathname.includes("_upload"));
        const work = await clone(repo.ownUrl);
        const changed = await git(work, ["diff-tree", "-r", "--name-only", "HEAD~1", "HEAD"]);
        expect(changed.trim().split("\n")).toHaveLength(30);
        expect(await git(work, ["show", "HEAD:site/pages/29.html"])).toBe("page 29");
      }));
  },
);

describe.skipIf(browserPath === undefined)("the code editor", () => {
  it("indents as .editorconfig says, and lets the keyboard leave", () =>
    write(WAYS[0], async ({ page, account, repo, root }) => {
      await callApi(account, "POST", `${repo.path}/contents/.editorconfig`, {
        content: btoa("[*.ts]\nindent_style = space\nindent_size = 3\n"),
      });
      await page.goto(`${root}/_new/main/?filename=a.ts`);
      const editor = page.locator(".cm-content");
      await editor.click();
      await page.keyboard.press("Tab");
      await page.keyboard.type("const a = 1;");
      await page.locator(".cm-content span").first().waitFor();
      expect(await editor.innerText()).toContain("   const a = 1;");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.className)).not.toBe("code-editor");
    }));

  it("keeps what was typed when the page is left", () =>
    write(WAYS[0], async ({ page, root }) => {
      await page.goto(`${root}/_edit/main/README.md`);
      await fill(page, WAYS[0], "# Draft\n");
      await page.goto(root);
      await page.goto(`${root}/_edit/main/README.md`);
      await page.getByText("Your draft is here again").waitFor();
      expect(await page.locator(".cm-content").innerText()).toContain("# Draft");
      await page.getByRole("button", { name: "Discard it" }).click();
      await page.locator(".cm-content", { hasText: "# Loom" }).waitFor();
    }));

  it("takes files that are dropped, with those of directories", () =>
    write(WAYS[0], async ({ page, root }) => {
      await page.goto(`${root}/_upload/main`);
      await page.locator("#files").setInputFiles([
        { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") },
        { name: "b.txt", mimeType: "text/plain", buffer: Buffer.from("b") },
      ]);
      await page.getByText("2 chosen").waitFor();
      await page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File(["c"], "c.txt"));
        const event = new DragEvent("drop", {
          dataTransfer: data,
          bubbles: true,
          cancelable: true,
        });
        document.querySelector(".drop")?.dispatchEvent(event);
      });
      await page.getByText("3 chosen").waitFor();
      await page.getByRole("button", { name: "Remove b.txt" }).click();
      await page.getByText("2 chosen").waitFor();
      await commit(page, "Commit the files");
      await page.getByRole("link", { name: "c.txt", exact: true }).waitFor();
      expect(await page.getByRole("link", { name: "b.txt", exact: true }).count()).toBe(0);
    }));
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  type Caller,
  callApi,
  makeRepo,
  makeToken,
  makeUser,
  type Repo,
  serviceUrl,
  urlAs,
} from "../support/forge.ts";
import { clone, commit, git, makeDirectory, makeWork, tryGit } from "../support/git.ts";
import { hasProgram, runProgram } from "../support/run-program.ts";
import { browserPath, launch, openTab } from "./browser.ts";
import { Walk } from "./walk.ts";

// Two people, each in a browser of their own, and their git: Ada owns the repository, Bob works on
// it.

const WAYS = [
  { width: 1280, isScripted: true },
  { width: 390, isScripted: false },
] as const;

type Way = (typeof WAYS)[number];

if (browserPath === undefined) console.log("no Chromium: the stories of two people are skipped");

let browser: Browser;
beforeAll(async () => {
  if (browserPath !== undefined) browser = await launch();
});
afterAll(async () => {
  await browser?.close();
});

/** Somebody at a browser. */
interface Person extends Caller {
  readonly page: Page;
  readonly walk: Walk;
  readonly complaints: readonly string[];
  /** Opens a page again and again, until it has a text. */
  readonly waitFor: (url: string, text: string) => Promise<void>;
}

async function sitDown(way: Way): Promise<Person> {
  const account = await makeUser();
  const context = await browser.newContext({
    javaScriptEnabled: way.isScripted,
    viewport: { width: way.width, height: 900 },
  });
  const { page, complaints } = await openTab(context);
  const walk = new Walk(page, { hand: "pointer", isScripted: way.isScripted });
  await walk.open(`${serviceUrl}/user/login`, "Sign in");
  await walk.type("textbox", "User name or e-mail address", account.name);
  await walk.type("textbox", "Password", account.password);
  await walk.press("Sign in", "Dashboard");
  const waitFor = async (url: string, text: string): Promise<void> => {
    await expect.poll(() => show(page, url, text), POLL).toBe(true);
  };
  return { ...account, page, walk, complaints, waitFor };
}

const POLL = { timeout: 60_000, interval: 500 };

async function show(page: Page, url: string, text: string): Promise<boolean> {
  await page.goto(url);
  return page.getByText(text).first().isVisible();
}

/** A repository of the first with a file, that the second may write to and has cloned. */
async function share(ada: Person, bob: Person): Promise<{ repo: Repo; work: string }> {
  const repo = await makeRepo(ada);
  const work = await makeWork();
  await commit(work, { "loom.txt": "one\ntwo\nthree\n" }, "Set up the loom");
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  await callApi(ada, "PUT", `${repo.path}/collaborators/${bob.name}`, { permission: "write" });
  return { repo, work: await clone(urlAs(repo.url, bob.name, bob.password)) };
}

const address = (repo: Repo, path = ""): string =>
  `${serviceUrl}/${repo.owner}/${repo.name}${path}`;

/** Pushes a branch of the tip of main with a commit. */
async function pushBranch(
  work: string,
  branch: string,
  files: Record<string, string>,
): Promise<void> {
  await git(work, ["fetch", "--quiet", "origin"]);
  await git(work, ["switch", "--quiet", "--create", branch, "origin/main"]);
  await commit(work, files, `Change ${branch}`);
  await git(work, ["push", "--quiet", "origin", branch]);
}

/** Pushes a branch and opens a pull request of it, whose number is returned. */
async function propose(
  { walk, page }: Person,
  repo: Repo,
  work: string,
  branch: string,
  files: Record<string, string>,
): Promise<number> {
  await pushBranch(work, branch, files);
  await walk.open(address(repo, `/compare/main...${branch}`), "Comparing");
  await walk.press("Open pull request", `Change ${branch}`);
  return Number(/\/pulls\/(\d+)/.exec(page.url())?.[1]);
}

/** Every page that they saw has no barrier and fits its window, and no browser complained. */
function expectGoodPages(...people: readonly Person[]): void {
  for (const { walk, complaints } of people) {
    expect(walk.faults).toEqual({});
    expect(complaints).toEqual([]);
  }
}

const nameOf = ({ width, isScripted }: Way): string =>
  `at ${width} px with${isScripted ? "" : "out"} scripts`;

describe.skipIf(browserPath === undefined).each(WAYS)("two people", (way) => {
  it(`discuss an issue, ${nameOf(way)}`, async () => {
    const [ada, bob] = [await sitDown(way), await sitDown(way)];
    const { repo } = await share(ada, bob);
    await bob.walk.open(address(repo), repo.name);
    await bob.walk.follow("Issues", "Issues", "Repository");
    await bob.walk.follow("New issue", "New issue");
    await bob.walk.type("textbox", "Title", "Threads tear");
    await bob.walk.type("textbox", "Text", `@${ada.name}, *have* you seen this?`);
    await bob.walk.press("Open issue", "#1 - Threads tear");

    await ada.walk.open(`${serviceUrl}/notifications`, "Notifications");
    await ada.walk.follow("Threads tear", "#1 - Threads tear");
    await ada.walk.type("textbox", "Comment", "Yes, by the wind.");
    await ada.walk.press("Comment", "#1 - Threads tear");

    await bob.page.reload();
    await bob.page.getByText("Yes, by the wind.").waitFor();
    await bob.walk.press("Close", "#1 - Threads tear");
    await ada.page.reload();
    await ada.page.getByText("closed this").waitFor();
    expect(await callApi(ada, "GET", `${repo.path}/issues/1`)).toMatchObject({ state: "closed" });
    expectGoodPages(ada, bob);
  });

  it(`merge by each style, ${nameOf(way)}`, async () => {
    const [ada, bob] = [await sitDown(way), await sitDown(way)];
    const { repo, work } = await share(ada, bob);
    const styles = ["merge", "rebase", "rebase-merge", "squash", "fast-forward-only"] as const;
    for (const style of styles) {
      const number = await propose(bob, repo, work, style, { [`${style}.txt`]: "new\n" });
      await ada.walk.open(address(repo, `/pulls/${number}`), `#${number} - `);
      await ada.page.getByLabel("Style").selectOption(style);
      await ada.walk.press("Merge", `#${number} - `);
      await ada.page.getByRole("heading", { name: "Merged" }).waitFor();
    }
    await git(work, ["fetch", "--quiet", "origin"]);
    const log = await git(work, ["log", "--format=%P", "--first-parent", "origin/main"]);
    // Newest first: fast-forward, squash, a merge, a commit that is replayed, a merge, the root.
    expect(log.split("\n").map((parents) => parents.split(" ").filter(Boolean).length)).toEqual([
      1, 1, 2, 1, 2, 0,
    ]);
    expectGoodPages(ada, bob);
  });

  it(`see conflicts, and resolve them by git, ${nameOf(way)}`, async () => {
    const [ada, bob] = [await sitDown(way), await sitDown(way)];
    const { repo, work } = await share(ada, bob);
    const first = await propose(ada, repo, work, "first", { "loom.txt": "1\ntwo\nthree\n" });
    const second = await propose(bob, repo, work, "second", { "loom.txt": "ONE\ntwo\nthree\n" });
    await ada.walk.open(address(repo, `/pulls/${first}`), `#${first} - `);
    await ada.walk.press("Merge", `#${first} - `);
    await bob.waitFor(address(repo, `/pulls/${second}`), "It has conflicts with the base.");
    await bob.page.getByText("Commands that resolve them").click();
    const commands = (await bob.page.locator(".merge-box pre").innerText()).split("\n");
    for (const line of commands) {
      if (line.startsWith("#")) writeFileSync(join(work, "loom.txt"), "both\ntwo\nthree\n");
      else if (line === "git commit --all") await git(work, ["commit", "--all", "--no-edit"]);
      else await tryGit(work, line.split(" ").slice(1));
    }
    await ada.waitFor(address(repo, `/pulls/${second}`), "It can be merged without conflicts.");
    await ada.walk.press("Merge", `#${second} - `);
    await git(work, ["fetch", "--quiet", "origin"]);
    expect(await git(work, ["show", "origin/main:loom.txt"])).toBe("both\ntwo\nthree");
    expectGoodPages(ada, bob);
  });

  it(`merge by the queue, ${nameOf(way)}`, async () => {
    const [ada, bob] = [await sitDown(way), await sitDown(way)];
    const { repo, work } = await share(ada, bob);
    await callApi(ada, "POST", `${repo.path}/branch_protections`, {
      rule_name: "main",
      enable_merge_queue: true,
    });
    const number = await propose(bob, repo, work, "queued", { "queued.txt": "new\n" });
    await ada.walk.open(address(repo, `/pulls/${number}`), `#${number} - `);
    await ada.walk.press("Add to the merge queue", `#${number} - `);
    await ada.waitFor(address(repo, `/pulls/${number}`), "merged it as");
    const pull = await callApi(ada, "GET", `${repo.path}/pulls/${number}`);
    expect(pull).toMatchObject({ merged: true });
    expectGoodPages(ada, bob);
  });

  it(`review line by line, and apply a suggestion, ${nameOf(way)}`, async () => {
    const [ada, bob] = [await sitDown(way), await sitDown(way)];
    const { repo, work } = await share(ada, bob);
    const loom = "export const rows = 2;\nexport const warp = 3;\nexport const weft = 4;\n";
    const number = await propose(bob, repo, work, "loom", { "loom.ts": loom });
    const files = address(repo, `/pulls/${number}/files`);

    await ada.walk.open(files, `#${number} - `);
    const comment = async (line: number, text: string, button: string) => {
      await ada.page.locator(`td[id$="R${line}"] a`).click();
      await ada.walk.type("textbox", "Comment", text);
      await ada.walk.press(button, `#${number} - `);
    };
    await comment(1, "Why two?", "Comment now");
    await comment(2, "A better name?", "Start a review");
    await comment(3, "```suggestion\nexport const weft = 5;\n```", "Add to review");
    // Until the review is finished, its comments are its author's.
    await bob.walk.open(files, `#${number} - `);
    await bob.page.getByText("Why two?").waitFor();
    expect(await bob.page.getByText("A better name?").count()).toBe(0);
    await ada.walk.type("textbox", "What do you think of the changes?", "Some words.");
    await ada.walk.press("Request changes", `#${number} - `);

    await bob.walk.open(address(repo, `/pulls/${number}`), `#${number} - `);
    await bob.page.getByText("requested changes").first().waitFor();
    await bob.walk.follow("Files changed 1", `#${number} - `);
    await bob.walk.press("Apply suggestion", `#${number} - `);
    await bob.walk.unfold("Answer");
    await bob.walk.type("textbox", "Comment", "Because.");
    await bob.walk.press("Comment now", `#${number} - `);
    await bob.walk.press("Resolve", `#${number} - `);

    await ada.walk.open(files, `#${number} - `);
    await ada.page.getByText("export const weft = 5;").first().waitFor();
    await ada.walk.type("textbox", "What do you think of the changes?", "Good now.");
    await ada.walk.press("Approve", `#${number} - `);
    await bob.page.goto(address(repo, `/pulls/${number}`));
    await bob.page.getByText("approved these changes").waitFor();
    const reviews = await callApi<{ state: string }[]>(
      bob,
      "GET",
      `${repo.path}/pulls/${number}/reviews`,
    );
    expect(reviews.map(({ state }) => state)).toEqual([
      "COMMENT",
      "REQUEST_CHANGES",
      "COMMENT",
      "APPROVED",
    ]);
    expectGoodPages(ada, bob);
  });

  it(`release with a file, ${nameOf(way)}`, async () => {
    const [ada, bob] = [await sitDown(way), await sitDown(way)];
    const { repo } = await share(ada, bob);
    await ada.walk.open(address(repo, "/releases"), "Releases");
    await ada.walk.follow("New release", "New release");
    await ada.walk.type("combobox", "Tag", "v1");
    await ada.walk.type("textbox", "Title", "The first cloth");
    await ada.walk.type("textbox", "Notes", "**Woven** at last.");
    const file = { name: "cloth.txt", mimeType: "text/plain", buffer: Buffer.from("threads\n") };
    await ada.page.getByLabel("New files").setInputFiles(file);
    await ada.walk.press("Publish release", "The first cloth");

    await bob.walk.open(address(repo, "/releases"), "Releases");
    await bob.walk.follow("The first cloth", "The first cloth");
    const link = await bob.page.getByRole("link", { name: "cloth.txt" }).getAttribute("href");
    const answer = await fetch(new URL(link ?? "", serviceUrl));
    expect(await answer.text()).toBe("threads\n");
    expectGoodPages(ada, bob);
  });

  it.skipIf(!["npm", "python3", "uv", "twine"].every(hasProgram))(
    `publish packages, and install them by the command of the page, ${nameOf(way)}`,
    async () => {
      const [ada, bob] = [await sitDown(way), await sitDown(way)];
      const token = await makeToken(ada, "write:package");
      await publishToNpm(ada, token);
      await publishToPypi(ada, token);

      await bob.walk.open(`${serviceUrl}/${ada.name}`, ada.name);
      await bob.walk.follow("Packages", "Packages");
      await bob.page.getByLabel("Format").selectOption("npm");
      await bob.walk.press("Search", "Packages");
      await bob.walk.follow("shuttle", "shuttle");
      const npm = makeDirectory();
      writeFileSync(join(npm, "package.json"), "{}");
      await runProgram("sh", ["-ec", await installationOn(bob.page)], { directory: npm });
      const required = ["-p", 'require("shuttle")'];
      expect(await runProgram("node", required, { directory: npm })).toBe("npm\n");

      await bob.walk.open(`${serviceUrl}/${ada.name}/-/packages?type=pypi`, "Packages");
      await bob.walk.follow("shuttle", "shuttle");
      const directory = makeDirectory();
      // A machine's own Python may refuse to install outside of its packages.
      const env = { PIP_TARGET: "lib", PIP_NO_CACHE_DIR: "1" };
      await runProgram("sh", ["-ec", await installationOn(bob.page)], { directory, env });
      const imported = ["-c", "import shuttle; print(shuttle.version)"];
      const options = { directory, env: { PYTHONPATH: "lib" } };
      expect(await runProgram("python3", imported, options)).toBe("1.0\n");
      expectGoodPages(ada, bob);
    },
  );
});

const installationOn = (page: Page): Promise<string> =>
  page.getByRole("region", { name: "Installation" }).locator("pre").innerText();

async function publishToNpm(owner: Caller, token: string): Promise<void> {
  const directory = makeDirectory();
  const registry = `${serviceUrl}/api/packages/${owner.name}/npm/`;
  writeFileSync(join(directory, "package.json"), '{ "name": "shuttle", "version": "1.0.0" }');
  writeFileSync(join(directory, "index.js"), 'module.exports = "npm";\n');
  const login = `${registry.replace("http:", "")}:_authToken=${token}\nupdate-notifier=false\n`;
  writeFileSync(join(directory, ".npmrc"), login);
  await runProgram("npm", ["publish", `--registry=${registry}`], { directory });
}

async function publishToPypi(owner: Caller, token: string): Promise<void> {
  const directory = makeDirectory();
  await runProgram("mkdir", ["-p", "src/shuttle"], { directory });
  writeFileSync(join(directory, "src/shuttle/__init__.py"), 'version = "1.0"\n');
  writeFileSync(
    join(directory, "pyproject.toml"),
    '[project]\nname = "shuttle"\nversion = "1.0"\n[build-system]\nrequires = ["uv_build<1"]\nbuild-backend = "uv_build"\n',
  );
  const env = { UV_CACHE_DIR: makeDirectory() };
  await runProgram("uv", ["build", "--offline"], { directory, env });
  const url = `${serviceUrl}/api/packages/${owner.name}/pypi/`;
  const login = ["--non-interactive", "-u", "__token__", "-p", token];
  const upload = ["upload", ...login, "--repository-url", url];
  const files = ["dist/shuttle-1.0.tar.gz", "dist/shuttle-1.0-py3-none-any.whl"];
  await runProgram("twine", [...upload, ...files], { directory });
}

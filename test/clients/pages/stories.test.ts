import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { startService } from "../../scripts/support/service.ts";
import { administratorOf, type Call, PASSWORD } from "./administrator.ts";
import { browserPath, launch, openTab } from "./browser.ts";
import { type Hand, Walk } from "./walk.ts";

// What people come for, in wide and narrow windows, in light and dark, with scripts and without,
// and by keyboard alone. Each page on the way has no barrier, fits its window, reports nothing to
// its console and loads nothing from elsewhere.

interface Way {
  readonly width: 390 | 1280;
  readonly isScripted: boolean;
  readonly hand: Hand;
}

const WAYS: readonly Way[] = [
  ...([390, 1280] as const).flatMap((width) =>
    [true, false].map((isScripted) => ({ width, isScripted, hand: "pointer" as const })),
  ),
  { width: 1280, isScripted: true, hand: "keys" },
];

const nameOf = ({ width, isScripted, hand }: Way): string =>
  `${hand}-${width}${isScripted ? "" : "-without-scripts"}`;

/** What a story needs: the reader's name, and the pages that they walk through. */
interface Story {
  readonly walk: Walk;
  readonly name: string;
  readonly root: string;
}

/** Finds a repository, reads its code and what happened to it, and is asked to sign in. */
async function visit({ walk, root }: Story): Promise<void> {
  await walk.open(root, "Home");
  await walk.follow("Explore repositories", "Explore");
  await walk.type("searchbox", "Search Repositories", "clo");
  await walk.press("Search", "Explore");
  await walk.follow("woven/cloth", "woven/cloth");
  await walk.toggle("Clone");
  await walk.toggle("Clone");
  await walk.follow("src", "cloth/src at main");
  await walk.follow("loom.ts", "cloth/loom.ts at main");
  await walk.toggle("Switch branch main");
  await walk.follow("feature/twill", "cloth/loom.ts at feature/twill");
  await walk.follow("Blame", "Blame of src/loom.ts");
  await walk.follow("History", "Commits of src/loom.ts");
  await walk.follow("Weave twill", "Weave twill · ");
  await walk.follow("Split", "Weave twill · ");
  await walk.follow("Code", "woven/cloth");
  await walk.follow("Find a file", "Find a file");
  await walk.type("searchbox", "Part of a path", "loom");
  await walk.press("Find", "");
  await walk.follow("Issues 1", "Issues");
  await walk.follow("Threads tear", "#1 - Threads tear");
  await walk.follow("Releases", "Releases");
  await walk.follow("The first cloth", "The first cloth");
  await walk.follow("woven", "woven");
  await walk.follow("Members", "Members");
  await walk.open(`${root}/woven/hidden`, "Page not found");
  await walk.follow("To the start", "Home");
  await walk.open(`${root}/woven/cloth`, "woven/cloth");
  await walk.follow("Star", "Sign in");
}

/** Stars and forks a repository, and changes the branches of one that a team may write to. */
async function takePart({ walk, name, root }: Story): Promise<void> {
  await walk.open(root, "Dashboard");
  await walk.follow("0 unread notifications", "Notifications");
  await walk.follow("Explore", "Explore");
  await walk.follow("woven/cloth", "woven/cloth");
  await walk.press("Star", "woven/cloth");
  await walk.press("Unstar", "woven/cloth");
  await walk.press("Unwatch", "woven/cloth");
  await walk.follow("Fork", "Fork - woven/cloth");
  await walk.press("Fork repository", `${name}/cloth`);
  await walk.follow("woven/cloth", "woven/cloth");
  await walk.follow("woven", "woven");
  await walk.press("Follow", "woven");
  await walk.follow("Teams", "Teams");
  await walk.follow("weavers", "weavers");
  await walk.follow("woven/hidden", "woven/hidden");
  await walk.open(`${root}/woven/hidden/branches?q=of-${name}`, "Branches");
  await walk.toggle(`Delete of-${name}`);
  await walk.press(`Delete of-${name}`, "Branches");
  await walk.follow("Deleted branches", "Deleted branches");
  await walk.press(`Restore of-${name}`, "Branches");
  await walk.toggle(`Menu of ${name}`);
  await walk.press("Sign out", "Sign in");
}

/** Creates an organization and repositories, corrects a form, and makes a token. */
async function own({ walk, name, root }: Story): Promise<void> {
  await walk.open(root, "Dashboard");
  await walk.follow("New", "New Repository");
  await walk.type("textbox", "Name", "no name");
  await walk.type("textbox", "Description", "Kept in mind");
  await walk.check("Begin with a README");
  await walk.press("Create repository", "New Repository");
  await walk.type("textbox", "Name", "mine");
  await walk.press("Create repository", `${name}/mine: Kept in mind`);
  await walk.follow("1 commit", "Commits of main");
  await walk.follow("Issues", "Issues", "Repository");
  await walk.follow("New issue", "New issue");
  await walk.type("textbox", "Title", "Colors fade");
  await walk.press("Open issue", "#1 - Colors fade");
  await walk.type("textbox", "Comment", "In the sun.");
  await walk.press("Comment", "#1 - Colors fade");
  await walk.press("Close", "#1 - Colors fade");
  await walk.toggle("Create");
  await walk.follow("New organization", "New Organization");
  await walk.type("textbox", "Name", `guild-${name}`);
  await walk.press("Create organization", `guild-${name}`);
  await walk.toggle("Create");
  await walk.follow("New repository", "New Repository");
  await walk.type("textbox", "Name", "empty");
  await walk.press("Create repository", `${name}/empty`);
  await walk.follow("your settings", "Access tokens settings");
  await walk.type("textbox", "Name", "for git");
  await walk.press("Make token", "Access tokens settings");
  await walk.follow("Security", "Security settings");
  await walk.toggle(`Menu of ${name}`);
  await walk.follow("Your page", name);
  await walk.follow("Activity", name);
}

const STORIES = { visitor: visit, member: takePart, owner: own } as const;

const CASES = Object.keys(STORIES).flatMap((reader) =>
  WAYS.map((way) => ({
    reader: reader as keyof typeof STORIES,
    way,
    title: `${reader}, ${nameOf(way)}`,
  })),
);

if (browserPath === undefined) console.log("no Chromium: the stories of readers are skipped");

let data: string;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Browser;

beforeAll(async () => {
  if (browserPath === undefined) return;
  data = mkdtempSync(join(tmpdir(), "edgeforge-stories-"));
  service = await startService(
    { path: inProject(".") },
    { EDGEFORGE_DATA: data, EDGEFORGE_ADMIN_USER: "root", EDGEFORGE_ADMIN_PASSWORD: PASSWORD },
  );
  await layScene(administratorOf(service.url));
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  if (data) rmSync(data, { recursive: true, force: true });
});

const README = `# Cloth

\`\`\`sh
${"weave --with many --threads ".repeat(8)}
\`\`\`

| Pattern | Rows |
|---|---|
| twill | 4 |
`;

/** An organization with a public and a private repository, and an account for each way. */
async function layScene(call: Call): Promise<void> {
  await call("POST", "/orgs", { username: "woven" });
  const commit = (path: string, name: string, text: string, more: object) =>
    call("POST", `/repos/woven/cloth/contents/${path}`, {
      content: btoa(text),
      message: name,
      ...more,
    });
  await call("POST", "/orgs/woven/repos", { name: "cloth", description: "Cloth of many threads" });
  await commit("README.md", "Begin", README, {});
  await commit("src/loom.ts", "Weave", "export const rows = 2;\n", {});
  const { sha } = (await call("GET", "/repos/woven/cloth/contents/src/loom.ts")) as { sha: string };
  await call("PUT", "/repos/woven/cloth/contents/src/loom.ts", {
    content: btoa("export const rows = 4;\n"),
    sha,
    message: "Weave twill\n\nIt has more rows.",
    new_branch: "feature/twill",
  });
  await call("POST", "/repos/woven/cloth/releases", {
    tag_name: "v1",
    name: "The first cloth",
    body: README,
  });
  await call("POST", "/repos/woven/cloth/issues", { title: "Threads tear", body: README });
  await call("POST", "/orgs/woven/repos", { name: "hidden", private: true, auto_init: true });
  const team = (await call("POST", "/orgs/woven/teams", {
    name: "weavers",
    permission: "write",
    includes_all_repositories: true,
    units: ["repo.code"],
  })) as { id: number };
  for (const { reader, way } of CASES) {
    if (reader === "visitor") continue;
    const name = `${reader}-${nameOf(way)}`;
    await call("POST", "/admin/users", {
      username: name,
      email: `${name}@example.org`,
      password: PASSWORD,
      must_change_password: false,
    });
    if (reader === "owner") continue;
    await call("PUT", `/teams/${team.id}/members/${name}`);
    await call("POST", "/repos/woven/hidden/branches", { new_branch_name: `of-${name}` });
  }
}

describe.skipIf(browserPath === undefined).concurrent("a story of", () => {
  it.each(CASES)("$title", async ({ reader, way }) => {
    const context = await browser.newContext({
      javaScriptEnabled: way.isScripted,
      viewport: { width: way.width, height: 900 },
    });
    const { page, complaints } = await openTab(context);
    const walk = new Walk(page, way);
    const name = `${reader}-${nameOf(way)}`;
    if (reader !== "visitor") {
      await walk.open(`${service.url}/user/login`, "Sign in");
      await walk.type("textbox", "User name or e-mail address", name);
      await walk.type("textbox", "Password", PASSWORD);
      await walk.press("Sign in", "Dashboard");
    }
    await STORIES[reader]({ walk, name, root: service.url });
    expect(walk.faults).toEqual({});
    expect(complaints).toEqual([]);
    await context.close();
  });
});

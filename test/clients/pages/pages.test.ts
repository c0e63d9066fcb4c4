import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { TOTP } from "otpauth";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { startService } from "../../scripts/support/service.ts";
import { administratorOf, type Call, PASSWORD } from "./administrator.ts";
import { browserPath, findBarriers, findOverflow, launch, openTab } from "./browser.ts";

/** Pages for people who are signed in. */
const SIGNED_IN = [
  "/root/shown/actions?workflow=ci.yml",
  "/root/shown/actions/run?workflow=ci.yml",
  "/root/shown/wiki?action=_new",
  "/root/shown/wiki/Home?action=_edit",
  "/root/shown/wiki/Home?action=_delete",
  "/",
  "/notifications",
  "/issues",
  "/pulls?type=created_by",
  "/milestones",
  "/repo/create",
  "/repo/migrate?service_type=2",
  "/org/create",
  "/root/shown/fork",
  "/root?tab=activity",
  "/org/woven/members",
  "/org/woven/teams",
  "/org/woven/teams/Owners",
  "/org/woven/settings/labels",
  "/org/woven/settings",
  "/org/woven/settings/rulesets",
  "/org/woven/settings/rulesets/new",
  "/org/woven/settings/hooks/slack/new",
  "/org/woven/settings/blocked_users",
  "/org/woven/teams/new",
  "/org/woven/teams/Owners/edit",
  "/root/shown/settings",
  "/root/shown/settings/collaboration",
  "/root/shown/settings/branches",
  "/root/shown/settings/branches/edit",
  "/root/shown/settings/tags",
  "/root/shown/settings/hooks",
  "/root/shown/settings/hooks/gitea/new",
  "/root/shown/settings/actions/secrets",
  "/root/shown/settings/actions/variables",
  "/root/shown/settings/actions/runners",
  "/root/shown/settings/actions/runners/new",
  "/org/woven/settings/actions/runners",
  "/root/shown/settings/keys",
  "/root/shown/settings/mirrors",
  "/root/shown/settings/lfs",
  "/root/shown/settings/lfs/locks",
  "/org/woven/settings/packages",
  "/root/shown/issues",
  "/root/shown/pulls",
  "/root/shown/issues/1",
  "/root/shown/issues/1?edit=title",
  "/root/shown/issues/1?edit=body",
  "/root/shown/issues/new",
  "/root/shown/pulls/2",
  "/root/shown/pulls/2/files",
  "/root/shown/compare/main...topic",
  "/root/shown/_new/main/docs",
  "/root/shown/_edit/main/src/a.ts",
  "/root/shown/_delete/main/src/a.ts",
  "/root/shown/_upload/main",
  "/root/shown/_diffpatch/main",
  "/root/shown/labels/new",
  "/root/shown/labels/1/edit",
  "/root/shown/milestones/new",
  "/root/shown/milestones/1/edit",
  "/root/-/packages/generic/tool/1.0/settings",
  "/root/shown/releases/new",
  "/root/shown/releases/edit/v1",
];
const SETTINGS = [
  "",
  "/account",
  "/appearance",
  "/security",
  "/tokens",
  "/keys",
  "/applications",
  "/organization",
  "/repos",
  "/blocked_users",
  "/hooks",
  "/hooks/gitea/new",
  "/actions/secrets",
  "/actions/variables",
  "/actions/runners",
  "/packages",
  "/packages/rules/add",
  "/log",
].map((part) => `/user/settings${part}`);
const ADMINISTRATION = [
  "",
  "/users",
  "/users/new",
  "/users/1",
  "/users/1/edit",
  "/emails",
  "/badges",
  "/orgs",
  "/repos",
  "/packages",
  "/actions/variables",
  "/actions/runners",
  "/hooks",
  "/system-hooks/gitea/new",
  "/monitor/cron",
  "/monitor/queue",
  "/storage",
  "/quotas/root",
  "/quotas/root",
  "/config",
  "/audit",
].map((part) => `/-/admin${part}`);
const PUBLIC = [
  "/user/login",
  "/user/sign_up",
  "/user/forgot_password",
  "/user/activate?code=x",
  "/",
  "/docs",
  "/docs/administration",
  "/explore/repos",
  "/explore/users",
  "/explore/topics",
  "/root",
  "/root?tab=overview",
  "/root?tab=organizations",
  "/woven",
  "/root/-/packages",
  "/root/-/packages/generic/tool/1.0",
  "/root/shown/packages",
  "/root/shown",
  "/root/shown/src/branch/main/README.md",
  "/root/shown/src/branch/main/src/a.ts",
  "/root/shown/blame/branch/main/src/a.ts",
  "/root/shown/find/branch/main?q=a",
  "/root/shown/search?q=text",
  "/root/shown/commits/branch/main",
  "/root/shown/commits/branch/main/search?q=add",
  "/root/shown/graph",
  "/root/shown/branches",
  "/root/shown/tags",
  "/root/shown/releases",
  "/root/shown/actions",
  "/root/shown/actions/runs/1",
  "/root/shown/actions/runs/1/jobs/0",
  "/root/shown/wiki",
  "/root/shown/wiki?action=_pages",
  "/root/shown/wiki/Home?action=_revision",
  "/root/shown/labels",
  "/root/shown/milestones",
  "/root/shown/milestone/1",
  "/root/shown/activity/yearly",
  "/root/shown/activity/contributors",
  "/root/shown/forks",
  "/root/shown/issues",
  "/root/shown/issues?label=Kind%2FBug",
  "/root/shown/pulls?state=all",
  "/root/shown/issues/1",
  "/root/shown/issues/1/history",
  "/root/shown/pulls/2",
  "/root/shown/pulls/2/commits",
  "/root/shown/pulls/2/files",
  "/root/none",
];

/** Where screenshots are stored, if anywhere. */
const SHOTS = process.env["EDGEFORGE_SCREENSHOTS"];

if (browserPath === undefined) console.log("no Chromium: the stories of pages are skipped");

let data: string;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Browser;
let callAsRoot: Call;
/** By a name: security keys do not belong to addresses. */
let root: string;
/** The pages of a commit that changes a line of a long file and adds 60 others. */
let change: string;
let comparison: string;

beforeAll(async () => {
  if (browserPath === undefined) return;
  data = mkdtempSync(join(tmpdir(), "edgeforge-pages-"));
  service = await startService(
    { path: inProject(".") },
    {
      EDGEFORGE_DATA: data,
      EDGEFORGE_ADMIN_USER: "root",
      EDGEFORGE_ADMIN_PASSWORD: PASSWORD,
      MAIL_FROM: "forge@example.org",
      DISABLE_REGISTRATION: "false",
    },
  );
  root = service.url.replace("127.0.0.1", "localhost");
  callAsRoot = administratorOf(service.url);
  const description = "A repository with a page";
  await callAsRoot("POST", "/user/repos", { name: "shown", description, auto_init: true });
  await callAsRoot("POST", "/user/repos", { name: ".profile", auto_init: true });
  await callAsRoot("POST", "/orgs", { username: "woven" });
  const content = btoa(`/* a comment\n of two lines */\nconst text = "${"long ".repeat(60)}";\n`);
  await callAsRoot("POST", "/repos/root/shown/contents/src/a.ts", { content });
  await callAsRoot("POST", "/repos/root/shown/releases", { tag_name: "v1", body: "**New**" });
  const workflow = "on: workflow_dispatch\njobs: { a: { runs-on: x, steps: [{ run: a }] } }\n";
  const file = "contents/.gitea/workflows/ci.yml";
  await callAsRoot("POST", `/repos/root/shown/${file}`, { content: btoa(workflow) });
  const start = "actions/workflows/ci.yml/dispatches";
  await callAsRoot("POST", `/repos/root/shown/${start}`, { ref: "main" });
  const label = { name: "Kind/Bug", color: "#ffffff", description: "Broken", exclusive: true };
  await callAsRoot("POST", "/repos/root/shown/labels", label);
  const wiki = { title: "Home", content_base64: btoa("# A\n\n## B\n\n## C\n\n[[Home]]\n") };
  await callAsRoot("POST", "/repos/root/shown/wiki/new", wiki);
  const milestone = { title: "1.0", description: "**First**", due_on: "2026-01-31T00:00:00Z" };
  await callAsRoot("POST", "/repos/root/shown/milestones", milestone);
  const text = "**Words** of @root, see #2\n\n- [ ] a task\n\n```ts\nconst a = 1;\n```";
  const issue = { title: "It is broken", body: text, labels: [1], milestone: 1 };
  await callAsRoot("POST", "/repos/root/shown/issues", { ...issue, assignees: ["root"] });
  await callAsRoot("POST", "/repos/root/shown/issues/1/comments", { body: text });
  await callAsRoot("POST", "/repos/root/shown/issues/1/reactions", { content: "heart" });
  await callAsRoot("PATCH", "/repos/root/shown/issues/1", { title: "It is mended" });
  await callAsRoot("POST", "/repos/root/shown/contents/b.ts", { content, new_branch: "topic" });
  const pull = { title: "Mend it", head: "topic", base: "main", body: "Closes #1" };
  await callAsRoot("POST", "/repos/root/shown/pulls", pull);
  [change, comparison] = await makeChange();
  const published = await fetch(`${service.url}/api/packages/root/generic/tool/1.0/tool.bin`, {
    method: "PUT",
    headers: { Authorization: `Basic ${btoa(`root:${PASSWORD}`)}` },
    body: "a tool",
  });
  if (published.status !== 201) throw new Error(await published.text());
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  if (data) rmSync(data, { recursive: true, force: true });
});

/** The link in the newest mail. */
function lastLink(): string {
  const directory = join(data, "mail");
  const file = readdirSync(directory)
    .filter((name) => name.endsWith(".eml"))
    .toSorted()
    .at(-1);
  const text = readFileSync(join(directory, file ?? ""), "utf8");
  return root + (/https?:\/\/[^/]+(\/\S+\?code=\S+)/.exec(text)?.[1] ?? "");
}

const mailCount = (): number => {
  try {
    return readdirSync(join(data, "mail")).filter((name) => name.endsWith(".eml")).length;
  } catch {
    return 0;
  }
};

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}

async function signIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.goto(`${root}/user/login`);
  await page.getByLabel("User name or e-mail address").fill(name);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.locator("summary", { has: page.locator(".avatar") }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
}

async function makeChange(): Promise<[change: string, comparison: string]> {
  await callAsRoot("POST", "/user/repos", { name: "changed", auto_init: true });
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at + 1}\n`);
  const commit = async (files: object[]) => {
    const made = await callAsRoot("POST", "/repos/root/changed/contents", { files });
    return made as { commit: { sha: string }; files: { sha: string }[] };
  };
  const path = "a.txt";
  const before = await commit([{ operation: "create", path, content: btoa(lines.join("")) }]);
  const content = btoa(lines.with(49, "line 50, changed\n").join(""));
  const update = { operation: "update", path, content, sha: before.files[0]?.sha };
  const others = Array.from({ length: 60 }, (_, at) => ({
    operation: "create",
    path: `dir/${String(at).padStart(2, "0")}.txt`,
    content: btoa(`${at}\n`),
  }));
  const after = await commit([update, ...others]);
  return [
    `/root/changed/commit/${after.commit.sha}`,
    `/root/changed/compare/${before.commit.sha}...main`,
  ];
}

/** Registers by the pages and the mail, in a browser of its own. */
async function register(context: BrowserContext, name: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${root}/user/login`);
  await page.getByRole("link", { name: "Register" }).click();
  await page.getByLabel("User name").fill(name);
  await page.getByLabel("E-mail address").fill(`${name}@example.com`);
  await page.getByLabel("New password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("New password again").fill(PASSWORD);
  const before = mailCount();
  await page.getByRole("button", { name: "Register" }).click();
  await page.getByRole("heading", { name: "Look into your mail" }).waitFor();
  await expect.poll(mailCount).toBe(before + 1);
  await page.goto(lastLink());
  await page.getByRole("button", { name: "Create your account" }).click();
  await page.getByRole("heading", { name: "Your account is ready" }).waitFor();
  await signIn(page, name);
  await page.getByRole("heading", { name: "Your repositories" }).waitFor();
  return page;
}

describe.skipIf(browserPath === undefined)("pages in a browser", () => {
  it("open the page of a conversation that has the comment of an address", async () => {
    const issue = { title: "A long conversation" };
    const { number } = (await callAsRoot("POST", "/repos/root/shown/issues", issue)) as {
      number: number;
    };
    const ids: number[] = [];
    for (let at = 0; at < 101; at++) {
      const comments = `/repos/root/shown/issues/${number}/comments`;
      const made = await callAsRoot("POST", comments, { body: `Comment ${at}` });
      ids.push((made as { id: number }).id);
    }
    const anchorOf = (at: number) => `#issuecomment-${ids.at(at)}`;
    const [first, last] = [anchorOf(0), anchorOf(-1)];
    const context = await browser.newContext();
    const page = await context.newPage();
    const path = `/root/shown/issues/${number}`;
    await page.goto(`${root}${path}${last}`);
    await expect.poll(() => page.url()).toBe(`${root}${path}?entry=${ids.at(-1)}${last}`);
    await expect
      .poll(() => page.locator(last).evaluate((item) => item.matches(":target")))
      .toBe(true);
    // A link of the page to another one of its comments.
    await page.evaluate((hash) => location.assign(hash), first);
    await expect.poll(() => page.url()).toBe(`${root}${path}?entry=${ids[0]}${first}`);
    // One that is not there is not searched again and again.
    await page.goto(`${root}${path}#issuecomment-999999`);
    await expect.poll(() => page.url()).toContain("?entry=999999#");
    await expect.poll(() => page.locator(last).count()).toBe(1);
    await context.close();
  });

  it("let a person register, sign in with an app, and out, without scripts", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await register(context, "alice");

    await page.goto(`${root}/user/settings/account`);
    await page.getByRole("link", { name: "Security" }).click();
    await page.locator("#start-totp").fill(PASSWORD);
    await page.getByRole("button", { name: "Set up an app" }).click();
    const secret = (await page.locator(".secret").textContent()) ?? "";
    await shoot(page, "enrolment");
    const code = (steps: number) =>
      new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });
    await page.getByRole("textbox", { name: "Code" }).fill(code(0));
    await page.getByRole("button", { name: "Enable the app" }).click();
    expect(await page.locator(".codes li").count()).toBe(10);
    await shoot(page, "recovery-codes");
    await page.getByRole("link", { name: "I have stored them" }).click();

    await signOut(page);
    await signIn(page, "alice");
    await page.getByRole("textbox", { name: "Code" }).fill("000000");
    await page.getByRole("button", { name: "Continue" }).click();
    expect(await page.getByRole("alert").textContent()).toContain("not right");
    await shoot(page, "second-factor");
    await page.getByRole("textbox", { name: "Code" }).fill(code(1));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("heading", { name: "Your repositories" }).waitFor();
    await context.close();
  });

  it("replace a forgotten password", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await register(context, "bob");
    await signOut(page);
    await page.getByRole("link", { name: "Forgotten password" }).click();
    await page.getByLabel("E-mail address").fill("bob@example.com");
    const before = mailCount();
    await page.getByRole("button", { name: "Send the link" }).click();
    await expect.poll(mailCount).toBe(before + 1);
    await page.goto(lastLink());
    await page.getByLabel("New password", { exact: true }).fill("another horse");
    await page.getByLabel("New password again").fill("another horse");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByRole("heading", { name: "Your password is changed" }).waitFor();

    await signIn(page, "bob", "another horse");
    await page.getByRole("heading", { name: "Your repositories" }).waitFor();
    await context.close();
  });

  it("take a security key as the second factor", async () => {
    const context = await browser.newContext();
    const page = await register(context, "carol");
    const devtools = await context.newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    const options = {
      protocol: "ctap2",
      transport: "usb",
      hasResidentKey: false,
      hasUserVerification: false,
      isUserVerified: false,
      automaticPresenceSimulation: true,
    } as const;
    const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options,
    });

    await page.goto(`${root}/user/settings/security`);
    await page.getByLabel("Name of a new key").fill("ring");
    await page.locator("#start-key").fill(PASSWORD);
    await page.getByRole("button", { name: "Add a key" }).click();
    await page.getByRole("button", { name: "Ask the key" }).click();
    await page.getByRole("link", { name: "I have stored them" }).click();
    expect(await page.locator(".list .grow", { hasText: "ring" }).count()).toBe(1);
    await shoot(page, "security-with-key");

    await signOut(page);
    await signIn(page, "carol");
    await shoot(page, "security-key");
    await page.getByRole("button", { name: "Use a security key" }).click();
    await page.getByRole("heading", { name: "Your repositories" }).waitFor();
    await page.goto(`${root}/user/settings/security`);
    expect(await page.getByText(/last used .*\d\d.*\.$/).count()).toBeGreaterThan(0);

    // Another key does not sign in.
    await signOut(page);
    await devtools.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
    await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
    await signIn(page, "carol");
    await page.getByRole("button", { name: "Use a security key" }).click();
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("did not answer");
    await context.close();
  });

  it("ask for a new password where an administrator set the first one", async () => {
    await callAsRoot("POST", "/admin/users", {
      username: "dave",
      email: "dave@example.com",
      password: PASSWORD,
      must_change_password: true,
    });
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await signIn(page, "dave");
    await page.getByRole("heading", { name: "Change your password" }).waitFor();
    await shoot(page, "due-password");
    // Until then, nothing else is open.
    await page.goto(`${root}/user/settings/account`);
    await page.getByRole("button", { name: "Sign in" }).waitFor();

    await signIn(page, "dave");
    await page.getByLabel("New password", { exact: true }).fill(PASSWORD);
    await page.getByLabel("New password again").fill(PASSWORD);
    await page.getByRole("button", { name: "Change password" }).click();
    expect(await page.getByRole("alert").count()).toBe(1);
    await page.getByLabel("New password", { exact: true }).fill("another horse");
    await page.getByLabel("New password again").fill("another horse");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByRole("heading", { name: "Your repositories" }).waitFor();
    await context.close();
  });

  it("let a person decide what an application may do", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const { page } = await openTab(context);
    const client = (await callAsRoot("POST", "/user/applications/oauth2", {
      name: "Planner",
      redirect_uris: ["https://planner.example/back"],
      confidential_client: true,
    })) as { client_id: string; client_secret: string };
    // The address of the application, which is nowhere.
    await page.route("https://planner.example/**", (route) =>
      route.fulfill({ contentType: "text/plain", body: "back at the application" }),
    );
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: "https://planner.example/back",
      response_type: "code",
      scope: "read:user",
      state: "of the application",
    });
    const ask = async () => {
      await page.goto(`${root}/login/oauth/authorize?${query}`);
      const heading = page.getByRole("heading", { name: "Grant access to Planner?" });
      return heading.waitFor();
    };
    await page.goto(`${root}/login/oauth/authorize?${query}`);
    await page.getByLabel("User name or e-mail address").fill("root");
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await ask();
    await shoot(page, "consent");
    expect(await findOverflow(page)).toBe(0);
    // axe needs scripts.
    const scripted = await browser.newContext({ storageState: await context.storageState() });
    const { page: same } = await openTab(scripted);
    await same.goto(page.url());
    expect(await findBarriers(same)).toEqual([]);
    await scripted.close();

    await page.locator('button[name="granted"][value="false"]').click();
    await page.getByText("back at the application").waitFor();
    const refused = new URL(page.url()).searchParams;
    expect(Object.fromEntries(refused)).toMatchObject({
      error: "access_denied",
      state: "of the application",
    });

    await ask();
    await page.locator('button[name="granted"][value="true"]').click();
    await page.getByText("back at the application").waitFor();
    const granted = new URL(page.url()).searchParams;
    expect(granted.get("state")).toBe("of the application");
    const tokens = await fetch(`${service.url}/login/oauth/access_token`, {
      method: "POST",
      body: new URLSearchParams({
        client_id: client.client_id,
        client_secret: client.client_secret,
        grant_type: "authorization_code",
        code: granted.get("code") ?? "",
        redirect_uri: "https://planner.example/back",
      }),
    });
    const { access_token: token } = (await tokens.json()) as { access_token: string };
    const whom = await fetch(`${service.url}/api/v1/user`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(await whom.json()).toMatchObject({ login: "root" });
    await context.close();
  });

  it("let a person grant an agent less than it asks for", async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      colorScheme: "dark",
      viewport: { width: 390, height: 1200 },
    });
    const { page } = await openTab(context);
    await signIn(page, "root");
    const registered = await fetch(`${service.url}/login/oauth/register`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        client_name: "Weaver",
        redirect_uris: ["http://127.0.0.1/callback"],
        token_endpoint_auth_method: "none",
      }),
    });
    const client = (await registered.json()) as { client_id: string };
    await page.route("http://127.0.0.1:4711/**", (route) =>
      route.fulfill({ contentType: "text/plain", body: "back at the agent" }),
    );
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: "http://127.0.0.1:4711/callback",
      response_type: "code",
      scope: "write:repository write:issue read:user",
      resource: `${root}/mcp`,
      code_challenge: "x".repeat(43),
      code_challenge_method: "S256",
    });
    await page.goto(`${root}/login/oauth/authorize?${query}`);
    await page.getByRole("heading", { name: "Grant access to Weaver?" }).waitFor();
    await shoot(page, "agent");
    expect(await findOverflow(page)).toBe(0);
    // axe needs scripts.
    const scripted = await browser.newContext({ storageState: await context.storageState() });
    const { page: same } = await openTab(scripted);
    await same.goto(page.url());
    expect(await findBarriers(same)).toEqual([]);
    await scripted.close();

    await page.locator("#scope-issue").selectOption("Nothing");
    await page.getByLabel("Only in one repository").fill("root/none");
    await page.locator('button[name="granted"][value="true"]').click();
    expect(await page.getByRole("alert").textContent()).toContain("repositories that exist");
    expect(await page.locator("#scope-issue").inputValue()).toBe("none");
    await page.getByLabel("Only in one repository").fill("root/shown");
    await page.locator('button[name="granted"][value="true"]').click();
    await page.getByText("back at the agent").waitFor();
    expect(new URL(page.url()).searchParams.get("code")).toMatch(/^gta_/);
    await context.close();
  });

  it("are looked at for barriers", async () => {
    const { page } = await openTab(await browser.newContext());
    await page.setContent("<html lang=en><title>A page</title><main><h1>Name</h1><input></main>");
    expect(await findBarriers(page)).toEqual(["label: <input>"]);
    await page.context().close();
  });

  it("let a person create an organization and a repository in it, without scripts", async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 390, height: 800 },
    });
    const { page, complaints } = await openTab(context);
    await signIn(page, "root");
    await page.getByLabel("Create", { exact: true }).click();
    await page.getByRole("link", { name: "New organization" }).click();
    await page.getByLabel("Name", { exact: true }).fill("looms");
    await page.getByRole("button", { name: "Create organization" }).click();
    await page.getByRole("heading", { name: "looms" }).waitFor();

    await page.getByRole("main").getByRole("link", { name: "New repository" }).click();
    expect(await page.getByLabel("Owner", { exact: true }).inputValue()).toBe("looms");
    await page.getByLabel("Name", { exact: true }).fill("no name");
    await page.getByLabel("Description").fill("Kept");
    await page.getByRole("button", { name: "Create repository" }).click();
    expect(await page.getByRole("alert").textContent()).toContain("Must consist of");
    expect(await page.getByLabel("Description").inputValue()).toBe("Kept");
    await page.getByLabel("Name", { exact: true }).fill("shuttle");
    await page.getByLabel("Begin with a README").check();
    await page.getByRole("button", { name: "Create repository" }).click();
    await page.getByRole("link", { name: "looms" }).first().click();
    await page.getByRole("link", { name: "looms/shuttle" }).click();
    await page.getByRole("link", { name: "README.md" }).first().waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("are used by keyboard alone", async () => {
    const context = await browser.newContext();
    const { page } = await openTab(context);
    await page.goto(`${root}/user/login`);
    // The first field has the focus, once the page has given it.
    await page.locator('input[name="user_name"]:focus').waitFor();
    await page.keyboard.type("root");
    await page.keyboard.press("Tab");
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your repositories" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await page.keyboard.press("Enter");
    // The browser goes to a fragment after the key's own events.
    await page.locator("#main:focus").waitFor();
    const ring = await page.getByRole("link", { name: "Explore", exact: true }).evaluate((link) => {
      link.focus({ focusVisible: true });
      return getComputedStyle(link).outlineWidth;
    });
    expect(ring).toBe("3px");
    await context.close();
  });

  it("have keys, which a dialog lists and turns off", async () => {
    const context = await browser.newContext();
    const { page, complaints } = await openTab(context);
    await page.goto(`${root}/root/shown`);
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    await page.keyboard.press("j");
    expect(await focused()).toBe(".gitea");
    await page.keyboard.press("j");
    expect(await focused()).toBe("src");
    await page.keyboard.press("k");
    expect(await focused()).toBe(".gitea");
    await page.keyboard.press("y");
    expect(page.url()).toMatch(/\/root\/shown\/src\/commit\/[0-9a-f]{40}$/);
    await page.keyboard.press("/");
    await page.keyboard.type("j?");
    expect(await page.getByRole("searchbox", { name: "Search repositories" }).inputValue()).toBe(
      "j?",
    );

    await page.getByRole("button", { name: "Keys" }).click();
    const dialog = page.getByRole("dialog", { name: "Keys" });
    expect(await dialog.locator("kbd").allTextContents()).toEqual("? / t y j k Esc".split(" "));
    await shoot(page, "keys");
    await dialog.getByLabel("Use keys").uncheck();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("?");
    expect(await dialog.count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("mark ranges of lines, copy, and close menus", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const context = await browser.newContext({ permissions });
    const { page, complaints } = await openTab(context);
    await page.goto(`${root}/root/shown/src/branch/main/src/a.ts`);
    await page.locator("a[href='#L3']").click();
    await page.locator("a[href='#L2']").click({ modifiers: ["Shift"] });
    expect(new URL(page.url()).hash).toBe("#L2-L3");
    const marked = () =>
      page.locator(".code .marked").evaluateAll((all) => all.map(({ id }) => id));
    expect(await marked()).toEqual(["L2", "L3"]);
    await page.reload();
    expect(await marked()).toEqual(["L2", "L3"]);
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("button", { name: "Copied", exact: true }).waitFor();
    const read = () => page.evaluate(() => navigator.clipboard.readText());
    expect(await read()).toContain("a comment\n of two lines */\n");
    await page.getByRole("button", { name: "Copy the path" }).click();
    await expect.poll(read).toBe("src/a.ts");

    await page.goto(`${root}/root/shown`);
    await page.getByText("Clone", { exact: true }).click();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("button", { name: "Copied", exact: true }).waitFor();
    const address = await page.locator("#clone-url").inputValue();
    expect(await read()).toBe(address);
    await page.keyboard.press("Escape");
    expect(await page.locator("details.menu[open]").count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Clone");
    await page.keyboard.press("Enter");
    expect(await page.locator("details.menu[open]").count()).toBe(1);
    await page.locator("h1.repo-name").click({ position: { x: 1, y: 1 } });
    expect(await page.locator("details.menu[open]").count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("preview a label as its name and color are typed", async () => {
    const context = await browser.newContext();
    const { page, complaints } = await openTab(context);
    await signIn(page, "root");
    await page.goto(`${root}/root/shown/labels/new`);
    await page.getByLabel("Name").fill("Prio/<b>High</b>");
    const preview = page.locator("form .chip");
    expect(await preview.textContent()).toBe("Prio/<b>High</b>");
    const [color, digits] = [
      page.getByLabel("Color", { exact: true }),
      page.getByLabel("Color as hex digits"),
    ];
    const fill = () => preview.locator("circle").getAttribute("fill");
    await color.fill("#123456");
    expect([await fill(), await digits.inputValue()]).toEqual(["#123456", "#123456"]);
    await digits.fill("Fa0");
    expect([await fill(), await color.inputValue()]).toEqual(["#ffaa00", "#ffaa00"]);
    await digits.fill("no color");
    expect(await fill()).toBe("#ffaa00");
    await digits.fill("");
    await page.getByRole("button", { name: "Create label" }).click();
    await page.getByRole("link", { name: "Prio/<b>High</b>", exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("show more of a diff in its place", async () => {
    const context = await browser.newContext();
    const { page, complaints } = await openTab(context);
    await page.goto(root + change);
    const shown = (line: number) => page.getByRole("cell", { name: `line ${line}`, exact: true });
    expect(await shown(46).count()).toBe(0);
    await page.getByRole("link", { name: "Show lines 27 to 46" }).click();
    await shown(27).waitFor();
    expect(await shown(26).count()).toBe(0);
    await page.getByRole("link", { name: "Show lines 54 to 73" }).click();
    await shown(73).waitFor();
    await page.getByRole("link", { name: "Show lines 7 to 26" }).click();
    await page.getByRole("link", { name: "Show lines 1 to 6" }).click();
    await shown(1).waitFor();
    expect(await shown(27).count()).toBe(1);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("1");

    expect(await page.locator(".diff-file").count()).toBe(50);
    await page.getByRole("link", { name: "Show more files" }).click();
    await page.locator("section[aria-label='dir/59.txt']").waitFor();
    expect(await page.locator(".diff-file").count()).toBe(61);
    expect(page.url()).toBe(root + change);
    await shoot(page, "diff");

    // A file of another part is found by the address of its line.
    const place = await page.locator("section[aria-label='dir/58.txt']").getAttribute("id");
    await page.goto("about:blank");
    await page.goto(`${root}${change}#${place}R1`);
    await page.locator(`#${place}R1`).waitFor();
    expect(page.url()).toContain("skip-to=dir%2F58.txt");
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("show what others write in a conversation, and keep what is typed", async () => {
    const context = await browser.newContext();
    const { page, complaints } = await openTab(context);
    await signIn(page, "root");
    await page.clock.install();
    await page.goto(`${root}/root/shown/issues/1`);
    const text = page.locator("#new-comment textarea");
    await text.fill("not sent yet");
    await page.locator(".side summary").first().click();
    await callAsRoot("POST", "/repos/root/shown/issues/1/comments", { body: "From elsewhere" });
    await page.clock.runFor(15_000);
    await page.getByText("From elsewhere").waitFor();
    expect(await page.locator("[data-version]").textContent()).toBe("One new entry");
    expect(await text.inputValue()).toBe("not sent yet");
    expect(await page.locator(".side details[open]").count()).toBe(1);
    // What is there already is renewed where it is.
    const [comment] = await page.locator(".timeline > .comment").last().all();
    const id = (await comment?.getAttribute("id"))?.replace("issuecomment-", "") ?? "";
    const at = `/repos/root/shown/issues/comments/${id}`;
    await callAsRoot("PATCH", at, { body: "Edited elsewhere" });
    await callAsRoot("POST", `${at}/reactions`, { content: "rocket" });
    await page.clock.runFor(15_000);
    await page.getByText("Edited elsewhere").waitFor();
    await page.locator(`#issuecomment-${id} [name=remove][value=rocket]`).waitFor();
    expect(await page.getByText("From elsewhere").count()).toBe(0);
    expect(await text.inputValue()).toBe("not sent yet");
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("select all entries of a list", async () => {
    const context = await browser.newContext();
    const { page, complaints } = await openTab(context);
    await signIn(page, "root");
    await page.goto(`${root}/root/shown/issues`);
    const boxes = page.locator('input[name^="issue-"]');
    await page.getByLabel("Select all").check();
    expect(await page.locator('input[name^="issue-"]:checked').count()).toBe(await boxes.count());
    await boxes.first().uncheck();
    expect(await page.getByLabel("Select all").isChecked()).toBe(false);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("write times and numbers as the browser of the reader does", async () => {
    const context = await browser.newContext({ locale: "de-DE", timezoneId: "Asia/Tokyo" });
    const { page } = await openTab(context);
    await page.goto(`${root}/root/shown/commits/branch/main`);
    const time = page.locator("time").first();
    const at = new Date((await time.getAttribute("datetime")) ?? "");
    const options = { dateStyle: "full", timeStyle: "short", timeZone: "Asia/Tokyo" } as const;
    expect(await time.getAttribute("title")).toBe(at.toLocaleString("de-DE", options));
    await context.close();
  });

  it.each([
    ["light", [1280, 768]],
    ["dark", [360]],
  ] as const)(
    "have no barriers, in windows that are %s and %j pixels wide",
    async (colorScheme, widths) => {
      const context = await browser.newContext({ colorScheme });
      const { page, complaints } = await openTab(context);
      const faults: Record<string, unknown> = {};
      const look = async (path: string) => {
        for (const [at, width] of widths.entries()) {
          await page.setViewportSize({ width, height: 900 });
          if (at === 0) await page.goto(root + path);
          const barriers = at === 0 ? await findBarriers(page) : [];
          const overflow = await findOverflow(page);
          await shoot(page, `${path.replaceAll(/\W+/g, "-").slice(1)}-${colorScheme}-${width}`);
          if (overflow === 0 && barriers.length === 0) continue;
          faults[`${path} at ${width}`] = { barriers, overflow };
        }
      };
      const diffs = [change, `${change}?style=split`, comparison, "/root/changed/compare/x"];
      for (const path of [...PUBLIC, ...diffs]) await look(path);
      await signIn(page, "root");
      for (const path of [...SIGNED_IN, ...SETTINGS, ...ADMINISTRATION]) await look(path);

      expect(faults).toEqual({});
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});

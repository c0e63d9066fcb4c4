import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { startService } from "../../scripts/support/service.ts";
import { clone, commit, git, tryGit } from "../support/git.ts";
import { administratorOf, type Call, PASSWORD } from "./administrator.ts";
import { browserPath, launch, openTab } from "./browser.ts";
import { Walk } from "./walk.ts";

// What owners of accounts and administrators of the service do, without scripts and with them, in
// wide and narrow windows. Each page on the way has no barrier and fits its window.

interface Way {
  readonly title: string;
  readonly name: string;
  readonly width: number;
  readonly isScripted: boolean;
}

const WAYS: readonly Way[] = [
  { title: "wide, with scripts", name: "ada", width: 1280, isScripted: true },
  { title: "narrow, without scripts", name: "bob", width: 390, isScripted: false },
];

if (browserPath === undefined) console.log("no Chromium: the stories of settings are skipped");

let data: string;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Browser;
let callAsRoot: Call;

beforeAll(async () => {
  if (browserPath === undefined) return;
  data = mkdtempSync(join(tmpdir(), "edgeforge-administration-"));
  service = await startService(
    { path: inProject(".") },
    { EDGEFORGE_DATA: data, EDGEFORGE_ADMIN_USER: "root", EDGEFORGE_ADMIN_PASSWORD: PASSWORD },
  );
  callAsRoot = administratorOf(service.url);
  for (const { name } of WAYS) {
    await callAsRoot("POST", "/admin/users", {
      username: name,
      email: `${name}@example.org`,
      password: PASSWORD,
      must_change_password: false,
    });
    await callAsRoot("POST", `/admin/users/${name}/repos`, {
      name: "notes",
      private: true,
      auto_init: true,
    });
    await callAsRoot("POST", `/admin/users/${name}/repos`, {
      name: "other",
      private: true,
      auto_init: true,
    });
  }
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  if (data) rmSync(data, { recursive: true, force: true });
});

async function enter({ width, isScripted }: Way, name: string) {
  const context = await browser.newContext({
    javaScriptEnabled: isScripted,
    viewport: { width, height: 900 },
  });
  const { page, complaints } = await openTab(context);
  const walk = new Walk(page, { hand: "pointer", isScripted });
  await walk.open(`${service.url}/user/login`, "Sign in");
  await walk.type("textbox", "User name or e-mail address", name);
  await walk.type("textbox", "Password", PASSWORD);
  await walk.press("Sign in", "Dashboard");
  const leave = async (): Promise<void> => {
    expect(walk.faults).toEqual({});
    expect(complaints).toEqual([]);
    await context.close();
  };
  return { page, walk, leave };
}

describe.skipIf(browserPath === undefined)("in the browser alone", () => {
  it.each(WAYS)("somebody makes a token that is bound, and git uses it: $title", async (way) => {
    const { name } = way;
    const { page, walk, leave } = await enter(way, name);
    await walk.toggle(`Menu of ${name}`);
    await walk.follow("Settings", "Profile settings");
    await walk.type("textbox", "Full name", "Somebody");
    await walk.press("Save profile", "Profile settings");
    await walk.follow("Access tokens", "Access tokens settings");
    await walk.type("textbox", "Name", "laptop");
    await page.locator("#scope-repository").selectOption("write");
    await walk.type("textbox", "Repositories", `${name}/notes`);
    await walk.type("textbox", "Refs", "main");
    await walk.press("Make token", "Access tokens settings");
    expect(await page.locator("#refs-fault").textContent()).toContain("Must be full names of refs");
    await walk.type("textbox", "Refs", "refs/heads/draft");
    await walk.press("Make token", "Access tokens settings");
    const token = (await page.locator(".secret").textContent()) ?? "";

    const { host } = new URL(service.url);
    const url = (repo: string) => `http://${name}:${token}@${host}/${name}/${repo}.git`;
    const work = await clone(url("notes"));
    await commit(work, { "note.txt": "a note\n" });
    await git(work, ["push", "origin", "HEAD:refs/heads/draft"]);
    const refused = await tryGit(work, ["push", "origin", "HEAD:refs/heads/main"]);
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("token-refs");
    expect((await tryGit(work, ["ls-remote", url("other")])).code).not.toBe(0);

    await walk.toggle("What it may do: laptop");
    expect(await page.getByText(`${name}/notes`, { exact: true }).count()).toBe(1);
    await walk.toggle("Delete laptop");
    await walk.press("Delete laptop", "Access tokens settings");
    expect((await tryGit(work, ["ls-remote", url("notes")])).code).not.toBe(0);
    await leave();
  });

  it.each(WAYS)(
    "an administrator creates a user, runs a task, reads the log: $title",
    async (way) => {
      const made = `made-by-${way.name}`;
      const { page, walk, leave } = await enter(way, "root");
      await walk.toggle("Menu of root");
      await walk.follow("Administration", "Overview - Administration");
      await walk.follow("Users", "Users - Administration", "Administration");
      await walk.follow("New user", "New user - Administration");
      await walk.type("textbox", "User name", made);
      await walk.type("textbox", "E-mail address", `${made}@example.org`);
      await page.getByLabel("Password", { exact: true }).fill("short");
      await page.getByLabel("Created on").fill("2001-02-03");
      await page.getByRole("button", { name: "Create user" }).click();
      await page.locator("#password-fault").waitFor();
      await walk.type("textbox", "E-mail address", `${made}@example.org`);
      await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await walk.press("Create user", `${made} - Administration`);
      expect(await page.getByText("2001").count()).toBe(1);
      await walk.follow("Edit", `Edit ${made} - Administration`);
      await walk.check("Signing in is prohibited");
      await walk.press("Save", `${made} - Administration`);

      await walk.follow("Schedule", "Schedule - Administration");
      await walk.press("Run now cleanup_audit_log", "Schedule - Administration");
      expect(await page.getByRole("status").textContent()).toContain("cleanup_audit_log has run.");
      for (const part of ["Queues", "Storage", "Settings", "Repositories", "Packages"]) {
        await walk.follow(part, `${part} - Administration`, "Administration");
      }
      await walk.follow("Log", "Log - Administration", "Administration");
      await walk.type("textbox", "Of whom", made);
      await walk.press("Show", "Log - Administration");
      for (const kind of ["user.created", "user.role_changed"]) {
        expect(await page.locator("td code", { hasText: kind }).count()).toBe(1);
      }
      await walk.follow("Help about this page", "The audit log - Documentation");

      await walk.open(`${service.url}/-/admin/users?q=${made}`, "Users - Administration");
      await walk.follow(made, `${made} - Administration`);
      await walk.type("textbox", "Name of the user", made);
      await walk.press("Delete the user", "Users - Administration");
      await leave();
    },
  );

  it.each(WAYS)(
    "somebody takes their data along, and deletes their account: $title",
    async (way) => {
      const { name } = way;
      const { page, walk, leave } = await enter(way, name);
      await walk.open(`${service.url}/user/settings/account`, "Account settings");
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Export your data" }).click(),
      ]);
      expect(file.suggestedFilename()).toBe(`${name}.zip`);
      await walk.follow("your repositories: delete or transfer them", "Repositories settings");
      await callAsRoot("DELETE", `/repos/${name}/notes`);
      await callAsRoot("DELETE", `/repos/${name}/other`);
      await walk.follow("Account", "Account settings");
      await walk.toggle("Delete the account");
      await page.locator("#password-for-deletion").fill("wrong");
      await walk.press(`Delete ${name} for ever`, "Account settings");
      expect(await page.getByRole("alert").textContent()).toContain("password is not right");
      // The form that was refused is open, with its field.
      await page.locator("#password-for-deletion").fill(PASSWORD);
      await walk.press(`Delete ${name} for ever`, "Home");
      await walk.open(`${service.url}/${name}`, "Page not found");
      await leave();
    },
  );
});

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { inProject } from "../../../scripts/project.ts";
import { callApi, type Caller, freshName, makeUser, serviceUrl, urlAs } from "../support/forge.ts";
import { commit, git, makeWork, tryGit } from "../support/git.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { browserPath, launch, openTab } from "./browser.ts";
import { Walk } from "./walk.ts";

// Somebody sets up an organization in the browser alone: two teams, a repository with a protected
// branch, and a webhook that a receiver gets.

const SECRET = "woven secret";

let browser: Browser;
let receiver: Receiver;
beforeAll(async () => {
  if (browserPath === undefined) return;
  browser = await launch();
  receiver = await startReceiver(inProject("docs/webhooks.md"), "Node", SECRET);
});
afterAll(async () => {
  await browser?.close();
  await receiver?.stop();
});

const WAYS = [
  { width: 1280, isScripted: true },
  { width: 390, isScripted: false },
] as const;

describe.skipIf(browserPath === undefined).each(WAYS)(
  "an organization at $width px, with scripts: $isScripted",
  ({ width, isScripted }) => {
    it("is set up with teams, a protected branch and a webhook", { timeout: 240_000 }, async () => {
      const [ada, bob] = [await makeUser(), await makeUser()];
      const context = await browser.newContext({
        javaScriptEnabled: isScripted,
        viewport: { width, height: 900 },
      });
      const { page, complaints } = await openTab(context);
      const walk = new Walk(page, { hand: "pointer", isScripted });
      await walk.open(`${serviceUrl}/user/login`, "Sign in");
      await walk.type("textbox", "User name or e-mail address", ada.name);
      await walk.type("textbox", "Password", ada.password);
      await walk.press("Sign in", "Dashboard");
      const org = freshName("woven");
      await walk.open(`${serviceUrl}/org/create`, "New Organization");
      await walk.type("textbox", "Name", org);
      await walk.press("Create organization", org);

      await walk.follow("Teams", "Teams");
      for (const team of ["weavers", "readers"]) {
        await walk.follow("New team", "New team");
        await walk.type("textbox", "Name", team);
        const mode = team === "weavers" ? "write" : "read";
        await page.getByLabel("Code", { exact: true }).selectOption(mode);
        await walk.press("Create team", `Team ${team}`);
        await walk.type("textbox", "Add a user, by name", bob.name);
        await walk.press("Add member", `Team ${team}`);
        await walk.follow("Teams", "Teams");
      }

      await walk.open(`${serviceUrl}/repo/create?owner=${org}`, "New Repository");
      await walk.type("textbox", "Name", "cloth");
      await walk.check("Begin with a README");
      await walk.press("Create repository", "cloth");
      await walk.follow("Settings", "General", "Repository");
      await walk.follow("Collaborators", "Collaborators", "Settings");
      await walk.type("textbox", "Add a team, by name", "weavers");
      await walk.press("Add team", "Collaborators");

      await walk.follow("Branches", "Rules for branches", "Settings");
      await walk.follow("New rule", "New rule");
      await walk.type("textbox", "Branch, or a pattern of branches", "main");
      await walk.press("Create rule", "Rules for branches");
      await page.getByText("Matches now: main").waitFor();

      await walk.follow("Webhooks", "Webhooks", "Settings");
      await walk.follow("Gitea", "New webhook for Gitea");
      await walk.type("textbox", "Address that receives", receiver.url);
      await page.getByLabel("Secret that signs deliveries", { exact: true }).fill(SECRET);
      await walk.press("Add webhook", "Webhook for Gitea");
      await walk.press("Deliver a test", "Webhook for Gitea");
      await expect.poll(() => isDelivered(page.url())).toBe(true);
      await walk.follow("push", "Delivery of push");
      await page.getByText("Status 204").or(page.getByText("Status 200")).first().waitFor();
      await walk.press("Deliver it again", "Delivery of push");
      expect(receiver.handled().join("\n")).toContain(`${org}/cloth`);

      expect(await pushOutcome(bob, org, "main")).toContain("protected");
      expect(await pushOutcome(bob, org, "topic")).toBe("");
      const rules = await callApi(ada, "GET", `/repos/${org}/cloth/branch_protections`);
      expect(rules).toMatchObject([{ rule_name: "main", enable_push: false }]);
      expect(walk.faults).toEqual({});
      expect(complaints).toEqual([]);
      await context.close();

      async function isDelivered(url: string): Promise<boolean> {
        await page.goto(url.replace(/#.*/, ""));
        return page.getByText("Delivered", { exact: true }).nth(1).isVisible();
      }
    });
  },
);

/** Pushes a commit to a branch. @returns What git says of a refusal; "" if it is taken. */
async function pushOutcome(by: Caller, org: string, branch: string): Promise<string> {
  const work = await makeWork();
  const url = urlAs(`${serviceUrl}/${org}/cloth.git`, by.name, by.password);
  await git(work, ["fetch", "--quiet", url, "main"]);
  await git(work, ["switch", "--quiet", "--create", `${branch}-here`, "FETCH_HEAD"]);
  await commit(work, { "loom.txt": "two\n" }, "Weave");
  const { code, output } = await tryGit(work, ["push", "--quiet", url, `HEAD:${branch}`]);
  return code === 0 ? "" : output;
}

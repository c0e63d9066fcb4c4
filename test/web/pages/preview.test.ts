import { beforeAll, describe, expect, it } from "vitest";

import { Browser } from "../../support/browser.ts";
import { makeIssue } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

let owner: TestUser;
let repo: TestRepo;
let browser: Browser;
let path: string;
beforeAll(async () => {
  owner = await make.userWithPassword();
  repo = await make.repo(owner, { isEmpty: false });
  browser = await Browser.signedIn(owner);
  path = `/${owner.name}/${repo.name}`;
});

async function tokenOf(by: Browser): Promise<string> {
  const page = String((await by.get("/notifications")).body);
  return /name="_csrf" value="([^"]*)"/.exec(page)?.[1] ?? "";
}

async function preview(fields: Record<string, string>, at = path) {
  return browser.post(`${at}/markup`, { _csrf: await tokenOf(browser), ...fields });
}

describe("the preview of a text", () => {
  it("is rendered as the pages of the repository render it, and writes nothing", async () => {
    const issue = await makeIssue(repo);
    const text = `See #${issue.number} and @${owner.name}\n\n- [x] done\n\n[a](docs/a.md)`;
    const form = { preview: "body", body: text, content: "another field" };
    const { line, answer } = await logged(() => preview(form));
    expect(answer.status).toBe(200);
    const page = String(answer.body);
    expect(page).toContain(`href="https://forge.example${path}/issues/${issue.number}"`);
    expect(page).toContain(`href="https://forge.example/${owner.name}"`);
    expect(page).toMatch(/<input type="checkbox" aria-label="Task" [^>]*checked/);
    expect(page).not.toContain("another field");
    expect(line).toMatchObject({ d1Rounds: 2, d1RowsWritten: 0 });
  });

  it("has no active content, and names nothing that its reader may not see", async () => {
    const other = await make.userWithPassword();
    const hidden = await make.repo(other, { isPrivate: true });
    const secret = await makeIssue(hidden, { title: "a secret" });
    const name = `${other.name}/${hidden.name}#${secret.number}`;
    const answer = await preview({
      preview: "body",
      body: `<script>alert(1)</script> [x](javascript:alert(1)) ${name}`,
    });
    const page = String(answer.body);
    expect(page).toContain(name);
    expect(page).not.toMatch(/<script>alert|href="javascript|a secret/);
    expect(page).not.toContain(`/issues/${secret.number}"`);
    expect(
      (await preview({ preview: "body", body: "x" }, `/${other.name}/${hidden.name}`)).status,
    ).toBe(404);
  });

  it("is refused without a session, from elsewhere and for a text that is too long", async () => {
    const form = { preview: "body", body: "typed" };
    const anonymous = await new Browser().post(`${path}/markup`, { _csrf: "x", ...form });
    expect(anonymous.status).toBe(403);
    // What was typed is not lost.
    expect(String(anonymous.body)).toContain("typed</textarea>");
    const own = { _csrf: await tokenOf(browser), ...form };
    const foreign = await browser.post(`${path}/markup`, own, { "Sec-Fetch-Site": "cross-site" });
    expect(foreign.status).toBe(403);
    const long = await preview({ preview: "body", body: "x".repeat(262_145) });
    expect(long.status).toBe(422);
  });

  it("is not what Enter in the line of a title sends", async () => {
    const page = String((await browser.get(`${path}/issues/new`)).body);
    const [first = ""] = /<button[^>]*type="submit"[^>]*>/.exec(page.split("<h2>")[1] ?? "") ?? [];
    expect(first).not.toContain("formaction");
    expect(page).toContain(`formaction="${path}/markup"`);
  });
});

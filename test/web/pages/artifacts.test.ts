import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { type WorkflowRun, workflowArtifacts } from "../../../src/db/schema/index.ts";
import { makeRun } from "../../support/actions.ts";
import { makeArtifact } from "../../support/artifacts.ts";
import { auditKindsOf } from "../../support/audit.ts";
import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";

let owner: TestUser;
let repo: TestRepo;
let run: WorkflowRun;
let browser: Browser;
let path: string;
beforeAll(async () => {
  owner = await make.userWithPassword();
  repo = await make.repo(owner);
  browser = await Browser.signedIn(owner);
});

/** A run that has ended, whose page is opened. */
async function openRun(state: WorkflowRun["state"] = "success"): Promise<void> {
  run = await makeRun(repo, { state });
  path = `/${owner.name}/${repo.name}/actions/runs/${run.number}`;
}

const bodyOf = async (by = new Browser()): Promise<string> => String((await by.get(path)).body);

const isThere = async ({ id }: { readonly id: number }): Promise<boolean> =>
  (await db.select().from(workflowArtifacts).where(eq(workflowArtifacts.id, id))).length > 0;

const tokenIn = (body: string): string => /name="_csrf" value="([^"]*)"/.exec(body)?.[1] ?? "";

describe("the artifacts of a run", () => {
  it("are listed with size and end, the newest of each name", async () => {
    await openRun();
    expect(await bodyOf()).not.toContain("Artifacts");
    const first = await makeArtifact(run, { name: "a b" });
    const second = await makeArtifact(run, { name: "a b", runAttempt: 2, sizeBytes: 2048 });
    await makeArtifact(run, { name: "old", state: "expired" });
    await makeArtifact(run, { name: "half", state: "pending" });
    const body = await bodyOf(browser);
    expect(body).toContain(`href="${path}/artifacts/a%20b"`);
    expect(body).toContain("2.0 KiB, expires ");
    expect(body).toContain("old");
    expect(body).toContain("5 B, expired");
    expect(body).not.toContain(`${path}/artifacts/old"`);
    expect(body).not.toContain("half");
    expect(body).toContain(`name="id" value="${second.id}"`);
    expect(body).not.toContain(`name="id" value="${first.id}"`);
  });

  it("are sent, whole and in ranges, to who may read the run", async () => {
    await openRun();
    await makeArtifact(run, { name: "a b" });
    await makeArtifact(run, { name: "old", state: "expired" });
    const whole = await new Browser().get(`${path}/artifacts/a%20b`);
    expect(whole.status).toBe(200);
    expect(whole.headers.get("content-disposition")).toContain('attachment; filename="a b.zip"');
    expect(whole.headers.get("content-security-policy")).toContain("sandbox");
    const part = await visit("GET", `${path}/artifacts/a%20b`, { headers: { Range: "bytes=1-3" } });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe("bytes 1-3/5");
    for (const name of ["old", "other", "..%2Fa"]) {
      expect((await new Browser().get(`${path}/artifacts/${name}`)).status).toBe(404);
    }
    const other = await make.repo(owner);
    const elsewhere = path.replace(`/${repo.name}/`, `/${other.name}/`);
    expect((await browser.get(`${elsewhere}/artifacts/a%20b`)).status).toBe(404);
  });

  it("are deleted by writers, once", async () => {
    await openRun();
    const artifact = await makeArtifact(run);
    const fields = { _csrf: tokenIn(await bodyOf(browser)), id: String(artifact.id) };
    const address = `${path}/artifacts/result/delete`;
    const answer = await browser.post(address, fields);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(path);
    expect(await isThere(artifact)).toBe(false);
    expect((await browser.post(address, fields)).status).toBe(404);
    expect((await auditKindsOf(owner)).filter((kind) => kind.startsWith("workflow_"))).toEqual([
      "workflow_artifact.deleted",
    ]);
  });

  it("are not deleted by readers, by another name, or without the token of the form", async () => {
    await openRun();
    const artifact = await makeArtifact(run);
    const address = `${path}/artifacts/result/delete`;
    const reader = await Browser.signedIn(await make.userWithPassword());
    expect(await bodyOf(reader)).not.toContain(address);
    const token = tokenIn(await bodyOf(browser));
    const id = String(artifact.id);
    expect((await reader.post(address, { _csrf: token, id })).status).toBe(404);
    expect((await browser.post(address, { _csrf: "x", id })).status).toBe(403);
    expect((await browser.post(address, { _csrf: token, id: "x" })).status).toBe(404);
    const renamed = address.replace("/result/", "/other/");
    expect((await browser.post(renamed, { _csrf: token, id })).status).toBe(404);
    expect(await isThere(artifact)).toBe(true);
  });

  it("can't be deleted on a page that renews itself", async () => {
    await openRun("running");
    await makeArtifact(run);
    const body = await bodyOf(browser);
    expect(body).toContain(`${path}/artifacts/result"`);
    expect(body).not.toContain(`${path}/artifacts/result/delete`);
  });
});

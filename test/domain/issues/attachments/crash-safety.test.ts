import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { attachmentLooseFiles, attachments } from "../../../../src/db/schema/index.ts";
import { removeLooseAttachments } from "../../../../src/domain/issues/attachments/remove-loose-attachments.ts";
import { db } from "../../../support/db.ts";
import { eventsOf } from "../../../support/events.ts";
import { failCalls, failing, serveFailing } from "../../../support/faults.ts";
import { makeIssue } from "../../../support/issues.ts";
import { make } from "../../../support/make.ts";
import { systemCtx } from "../../../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const CONTENT = "the whole file";

/** The keys of all stored files of attachments. */
async function storedUuids(): Promise<string[]> {
  const { objects } = await env.PACKS.list({ prefix: "attachments/" });
  return objects.map(({ key }) => key.slice("attachments/".length));
}

/**
 * An upload to a new issue, and what is left of it once the schedule has removed what nobody refers
 * to.
 */
async function makeUpload() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const issue = await makeIssue(repo);
  const earlier = new Set(await storedUuids());
  const url = `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}/issues/${issue.number}/assets`;
  const request = (body: BodyInit, headers: Record<string, string> = {}): Request =>
    new Request(url, {
      method: "POST",
      headers: { Authorization: `token ${owner.token}`, ...headers },
      body,
    });
  const settle = async () => {
    await removeLooseAttachments(systemCtx({}, Date.now() + 2 * DAY_MS));
    const rows = await db.select().from(attachments).where(eq(attachments.issueId, issue.id));
    const stored = (await storedUuids()).filter((uuid) => !earlier.has(uuid));
    return { rows, stored, events: await eventsOf(repo), loose: await looseOf(stored) };
  };
  return { request, settle };
}

const looseOf = async (uuids: readonly string[]) =>
  (await db.select().from(attachmentLooseFiles)).filter(({ uuid }) => uuids.includes(uuid));

const formOf = (content: string): FormData => {
  const form = new FormData();
  form.append("attachment", new File([content], "a.txt"));
  return form;
};

describe("an upload", { timeout: 120_000 }, () => {
  it("is stored with its file or leaves nothing, whichever call fails, and if the Worker dies at it", async () => {
    const outcomes = new Set<number>();
    const calls = await failCalls(async (fault) => {
      const { request, settle } = await makeUpload();
      const faults = failing(fault);
      const answer = await serveFailing(request(formOf(CONTENT)), faults.bindings);
      const { rows, stored, events, loose } = await settle();
      expect(stored).toEqual(rows.map(({ uuid }) => uuid));
      expect(loose).toEqual([]);
      // Files of successful answers exist; files whose answer was lost may exist.
      expect(rows.length).toBeGreaterThanOrEqual(answer?.status === 201 ? 1 : 0);
      expect(events).toHaveLength(rows.length);
      const files = stored.map((uuid) => env.PACKS.get(`attachments/${uuid}`));
      const texts = files.map(async (file) => (await file)?.text());
      expect(await Promise.all(texts)).toEqual(rows.map(() => CONTENT));
      outcomes.add(rows.length);
      return faults;
    });
    expect(calls).toBeGreaterThan(4);
    expect(outcomes).toEqual(new Set([0, 1]));
  });

  it("of a client that hangs up leaves nothing", async () => {
    const { request, settle } = await makeUpload();
    const head =
      '--b\r\nContent-Disposition: form-data; name="attachment"; filename="a.txt"\r\n\r\n';
    let pieces = 0;
    const body = new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (pieces === 20) return controller.error(new Error("the client left"));
        const text = pieces++ === 0 ? head : "x".repeat(65_536);
        return controller.enqueue(new TextEncoder().encode(text));
      },
    });
    const sent = request(body, { "Content-Type": "multipart/form-data; boundary=b" });
    const answer = await serveFailing(sent, {}).catch(() => undefined);
    expect(answer?.status ?? 400).toBeGreaterThanOrEqual(400);
    expect(await settle()).toEqual({ rows: [], stored: [], events: [], loose: [] });
    expect(pieces).toBe(20);
  });
});

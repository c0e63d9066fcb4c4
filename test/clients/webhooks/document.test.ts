import { createHmac, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { findMismatch, readExamples } from "../../scripts/documents/read-examples.ts";
import { runExamples, titleOf } from "../../scripts/documents/run-examples.ts";
import { admin, callApi, makeRepo, serviceUrl } from "../support/forge.ts";
import { commit, git, makeWork } from "../support/git.ts";
import { type Language, type Receiver, startReceiver } from "../support/receiver.ts";

const DOCUMENT = "docs/webhooks.md";
const SECRET = "a secret & its söund";
const PAYLOAD = JSON.stringify({
  ref: "refs/heads/täst & more",
  repository: { full_name: "somebody/something" },
});

const sign = (text: string, secret = SECRET): string =>
  createHmac("sha256", secret).update(text).digest("hex");

describe.each<Language>(["Node", "Python"])("the receiver in %s", (language) => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver(DOCUMENT, language, SECRET);
  });
  afterAll(() => receiver.stop());

  const send = async (body: string, headers: Record<string, string>): Promise<string> => {
    const answer = await fetch(receiver.url, { method: "POST", body, headers });
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
  const headersOf = (id: string, type = "json") => ({
    "Content-Type": type === "json" ? "application/json" : "application/x-www-form-urlencoded",
    "X-Gitea-Delivery": id,
    "X-Gitea-Event": "push",
    "X-Gitea-Signature": sign(PAYLOAD),
    "X-Edgeforge-Event-Id": "12",
  });

  it.each(["json", "form"])("handles a delivery of content type %s once", async (type) => {
    const id = randomUUID();
    const body = type === "json" ? PAYLOAD : new URLSearchParams({ payload: PAYLOAD }).toString();

    expect(await send(body, headersOf(id, type))).toBe("200 received");
    expect(await send(body, headersOf(id, type))).toBe("200 known");
    expect(receiver.handled().filter((line) => line.includes(id))).toEqual([
      `push ${id} 12 somebody/something refs/heads/täst & more`,
    ]);
  });

  it.each([
    ["of another secret", sign(PAYLOAD, "another")],
    ["of another body", sign(`${PAYLOAD} `)],
    ["cut short", sign(PAYLOAD).slice(0, 32)],
    ["with more behind it", `${sign(PAYLOAD)}00`],
    ["that is none", "söund"],
    ["that is empty", ""],
  ])("refuses a signature %s, and handles nothing", async (_, signature) => {
    const id = randomUUID();
    const encoded = Buffer.from(signature).toString("latin1");
    const headers = { ...headersOf(id), "X-Gitea-Signature": encoded };

    expect(await send(PAYLOAD, headers)).toBe("401 wrong signature");
    expect(receiver.handled().filter((line) => line.includes(id))).toEqual([]);
  });

  it("refuses a delivery without a signature", async () => {
    const { "X-Gitea-Signature": _, ...headers } = headersOf(randomUUID());
    expect(await send(PAYLOAD, headers)).toBe("401 wrong signature");
  });

  it.each(["json", "form"])("accepts the delivery of a push as %s", async (type) => {
    const repo = await makeRepo();
    await callApi(admin, "POST", `${repo.path}/hooks`, {
      type: "gitea",
      active: true,
      events: ["push"],
      config: { url: receiver.url, content_type: type, secret: SECRET },
    });
    const work = await makeWork();
    await commit(work, { "a file.txt": "söme text & more\n" }, "Größe <b>&amp;");
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);

    const ownLines = () =>
      receiver.handled().filter((line) => line.includes(`${repo.owner}/${repo.name} `));
    await expect
      .poll(ownLines, { timeout: 20_000 })
      .toEqual([
        expect.stringMatching(
          new RegExp(`^push [0-9a-f-]{36} [1-9]\\d* ${repo.owner}/${repo.name} refs/heads/main$`),
        ),
      ]);
  });
});

describe("docs/webhooks.md", () => {
  const examples = readExamples(readFileSync(DOCUMENT, "utf8"));
  const secret = "something-long-and-random";
  const directory = mkdtempSync(join(tmpdir(), "edgeforge-"));
  let receiver: Receiver;
  let printed: string[];

  beforeAll(async () => {
    receiver = await startReceiver(DOCUMENT, "Node", secret);
    printed = await runExamples(examples, directory, {
      FORGE: serviceUrl,
      ADMIN: `${admin.name}:${admin.password}`,
      RECEIVER: receiver.url,
      SECRET: secret,
    });
  });
  afterAll(async () => {
    await receiver.stop();
    rmSync(directory, { recursive: true });
  });

  it("has examples", () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  it.each(examples.map((example, at) => ({ title: titleOf(example), example, at })))(
    "prints the documented output: $title",
    ({ example, at }) => {
      expect(findMismatch(example.expected, printed[at] ?? "")).toBeUndefined();
    },
  );
});

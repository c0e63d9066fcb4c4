import { describe, expect, it, vi } from "vitest";

import { keepPieces, type SentPack } from "../../src/git-http/kept-pack.ts";
import { ENTRY_BYTES_MAX } from "../../src/storage/result-cache.ts";
import { UPLOAD_LIFE_MS } from "../../src/storage/retention.ts";
import type { StoredRepository } from "../../src/storage/storage.ts";
import { type Answer, visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { git } from "../support/git.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { filesOf, makeEmptyPack, pushCommands, storePush } from "../support/push.ts";
import { logged } from "../support/usage.ts";

const pkt = (text: string): string => (text.length + 5).toString(16).padStart(4, "0") + text + "\n";

const MAIN = "refs/heads/main";

/** Fetches as a client that has nothing. */
function fetchPack({ owner, name }: TestRepo, as: TestUser | undefined, ...args: string[]) {
  const lines = ["ofs-delta", "no-progress", "include-tag", ...args, "done"];
  return logged(() =>
    visit("POST", `/${owner}/${name}.git/git-upload-pack`, {
      ...(as && { as }),
      headers: {
        "Content-Type": "application/x-git-upload-pack-request",
        "Git-Protocol": "version=2",
      },
      body: `${pkt("command=fetch")}0001${lines.map(pkt).join("")}0000`,
    }),
  );
}

const SHALLOW = "deepen 1";

/** The number of objects of the pack in an answer. */
function countObjects({ body }: Answer): number {
  const at = (body as string).indexOf("PACK");
  return at < 0 ? 0 : (body as string).charCodeAt(at + 11);
}

/** A repository of two commits, of which the second is the tip. */
async function makeTwo(isPrivate = false) {
  const owner = await make.user();
  const repo = await make.repo(owner, { isPrivate });
  const history = new History();
  const first = history.commit({ files: { name: `${repo.name} 1` } });
  const tip = history.commit({ files: { name: `${repo.name} 2` }, parents: [first] });
  await storePush(repo, MAIN, tip, history.build());
  return { owner, repo, first, tip };
}

describe("the pack of a part of a history that was sent before", () => {
  it.each([
    ["a shallow clone", SHALLOW, 3],
    ["a clone without blobs", "filter blob:none", 4],
  ])("is sent again to %s, with no read of the bucket", async (_, option, count) => {
    const { owner, repo, tip } = await makeTwo();
    const answers = [];
    for (let at = 0; at < 2; at++) {
      answers.push(await fetchPack(repo, owner, option, `want ${tip}`));
    }
    const [made, kept] = answers;
    expect(made && countObjects(made.answer)).toBe(count);
    expect(kept?.answer.body).toBe(made?.answer.body);
    expect(kept?.sent).toMatchObject({ r2Calls: 0, objectCalls: 1, steps: 0 });
  });

  it("is another one for another depth, filter, tip and receiver", async () => {
    const { owner, repo, first, tip } = await makeTwo();
    const of = async (...args: string[]) =>
      countObjects((await fetchPack(repo, owner, ...args)).answer);
    expect(await of(SHALLOW, `want ${tip}`)).toBe(3);
    expect(await of("deepen 2", `want ${tip}`)).toBe(6);
    expect(await of(SHALLOW, "filter blob:none", `want ${tip}`)).toBe(2);
    expect(await of(SHALLOW, "filter tree:0", `want ${tip}`)).toBe(1);
    expect(await of(SHALLOW, `want ${first}`)).toBe(3);
    expect(await of(SHALLOW, `want ${tip}`, `have ${first}`)).toBe(3);
    expect(await of(`want ${tip}`)).toBe(6);
  });

  it("has a tag of its commit that was pushed since", async () => {
    const { owner, repo, tip } = await makeTwo();
    const before = await fetchPack(repo, owner, SHALLOW, `want ${tip}`);
    const history = new History();
    const tag = history.tag(tip, "v1");
    await storePush(repo, "refs/tags/v1", tag, history.build(), tip);
    const after = await fetchPack(repo, owner, SHALLOW, `want ${tip}`);
    expect([before, after].map(({ answer }) => countObjects(answer))).toEqual([3, 4]);
  });

  // SECURITY
  it("is not sent to who may not read the repository", async () => {
    const { owner, repo, tip } = await makeTwo(true);
    for (let at = 0; at < 2; at++) {
      const { answer } = await fetchPack(repo, owner, SHALLOW, `want ${tip}`);
      expect(countObjects(answer)).toBe(3);
    }
    const stranger = await make.user();
    expect((await fetchPack(repo, stranger, SHALLOW, `want ${tip}`)).answer.status).toBe(404);
    const { answer } = await fetchPack(repo, undefined, SHALLOW, `want ${tip}`);
    expect(answer.status).toBe(401);
  });

  // SECURITY
  it("is not sent once no ref reaches its commit", async () => {
    const { owner, repo, first, tip } = await makeTwo();
    const kept = await fetchPack(repo, owner, SHALLOW, `want ${tip}`);
    expect(countObjects(kept.answer)).toBe(3);
    const pack = makeEmptyPack();
    await pushCommands(owner, repo, [{ ref: MAIN, old: tip, new: first }], { pack });
    const forced = await fetchPack(repo, owner, SHALLOW, `want ${tip}`);
    expect(forced.answer.body).toContain(`not our ref ${tip}`);
    expect(countObjects(forced.answer)).toBe(0);
    expect(countObjects((await fetchPack(repo, owner, SHALLOW, `want ${first}`)).answer)).toBe(3);
  });
});

describe("the pack of a large tip of the default branch", () => {
  const isKept = (key: string): boolean => key.includes("/scratch/");
  const keptFiles = async (repo: TestRepo) => (await filesOf(repo)).filter(isKept);

  /** A repository whose tip is larger than what is collected in memory. */
  async function makeLarge() {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const files = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`file-${at}`, makeNoise(1_400_000)]),
    );
    const tip = history.commit({ files });
    const later = history.commit({ files: { ...files, more: "more" }, parents: [tip] });
    await storePush(repo, MAIN, later, history.build());
    return { owner, repo, tip: later, first: tip };
  }

  it("is kept in the bucket, as an upload that ends", async () => {
    const { owner, repo, tip, first } = await makeLarge();
    const made = await fetchPack(repo, owner, SHALLOW, `want ${tip}`);
    expect(countObjects(made.answer)).toBe(12);
    const kept = await keptFiles(repo);
    expect(kept).toHaveLength(1);
    const again = await fetchPack(repo, owner, SHALLOW, `want ${tip}`);
    expect(again.sent).toMatchObject({ r2Calls: 1, objectCalls: 1, steps: 0 });
    expect(again.answer.body === made.answer.body).toBe(true);

    // It is recorded before it is written, and so deleted by maintenance or with the repository.
    const { uploadIds } = await git.repository(repo).listWork(Date.now() + 2 * UPLOAD_LIFE_MS);
    expect(kept[0]).toContain(`/scratch/${uploadIds[0]}-`);
    await git.repository(repo).deleteUploads(uploadIds);
    const after = await fetchPack(repo, owner, SHALLOW, `want ${tip}`);
    expect(countObjects(after.answer)).toBe(12);

    // Of other parts, a reader could ask for any number.
    const before = await keptFiles(repo);
    await fetchPack(repo, owner, SHALLOW, `want ${first}`);
    await fetchPack(repo, owner, "filter blob:limit=5m", `want ${tip}`);
    expect(await keptFiles(repo)).toEqual(before);
  });

  it("is sent though it can't be kept", async () => {
    const bytes = 9 * 1024 * 1024;
    for (const failing of ["startKeptFile", "write", "finish"]) {
      const fail = (name: string) => () =>
        name === failing ? Promise.reject(new Error(name)) : Promise.resolve();
      const file = { write: fail("write"), finish: fail("finish"), abandon: fail("abandon") };
      const startKeptFile = () => fail("startKeptFile")().then(() => file);
      const entry = { pieces: undefined, keep: () => expect.unreachable() };
      const large = { startKeptFile } as unknown as StoredRepository;
      const log = vi.spyOn(console, "error").mockImplementation(() => {});
      let sent = 0;
      for await (const { length } of keepPieces(zeros(bytes), entry, () => {}, large)) {
        sent += length;
      }
      log.mockRestore();
      expect(sent, failing).toBe(bytes);
    }
  });
});

function zeros(bytes: number): SentPack {
  async function* pieces(): AsyncGenerator<Uint8Array, string> {
    for (let left = bytes; left > 0; left -= 1024 * 1024) {
      yield new Uint8Array(Math.min(left, 1024 * 1024));
    }
    return "end";
  }
  return { objectCount: 1, pieces: pieces() };
}

/** Text that can't be compressed to less than three quarters. */
function makeNoise(bytes: number): string {
  const noise = Array.from({ length: Math.ceil(bytes / 65_536) }, () =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(49_152))).toString("base64"),
  );
  return noise.join("");
}

describe("keepPieces", () => {
  async function keep(bytes: number, readMax = Number.POSITIVE_INFINITY) {
    const kept: number[] = [];
    let held = 0;
    const entry = {
      pieces: undefined,
      keep: ({ length }: Uint8Array) => void kept.push(length),
    };
    const pieces = keepPieces(zeros(bytes), entry, (heldBytes) => void (held = heldBytes));
    for (let read = 0; read < readMax; read++) if ((await pieces.next()).done) break;
    await pieces.return("");
    expect(held).toBe(0);
    return kept;
  }

  it("keeps what was sent to its end, up to a bound", async () => {
    expect(await keep(3_000_000)).toEqual([3_000_000]);
    expect(await keep(ENTRY_BYTES_MAX)).toEqual([ENTRY_BYTES_MAX]);
    expect(await keep(ENTRY_BYTES_MAX + 1)).toEqual([]);
    expect(await keep(3_000_000, 2)).toEqual([]);
  });

  it("keeps no more at once than the isolate has room for", async () => {
    const kept = await Promise.all(Array.from({ length: 8 }, () => keep(ENTRY_BYTES_MAX)));
    expect(kept.flat().length).toBeLessThanOrEqual(2);
    expect(await keep(ENTRY_BYTES_MAX)).toEqual([ENTRY_BYTES_MAX]);
  });
});

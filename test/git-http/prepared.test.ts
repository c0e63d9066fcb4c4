import { beforeAll, describe, expect, it } from "vitest";

import { type Answer, basic, call, type Sending, visit } from "../support/call.ts";
import { askBatch, askLfs, makeLargeFile, type TestFile, upload } from "../support/large-files.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { makeCommit, storePush } from "../support/push.ts";
import { logged } from "../support/usage.ts";

/** A repository with a commit, and with a large file that is locked. */
interface Place {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly oid: string;
  readonly file: TestFile;
}

async function makePlace(): Promise<Place> {
  const owner = await make.userWithPassword();
  const repo = await make.repo(owner);
  const { oid, pack } = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", oid, pack);
  const file = makeLargeFile(repo.name);
  await upload(owner, repo, file);
  await askLfs("POST", repo, "locks", { as: owner, json: { path: "a.bin" } });
  return { owner, repo, oid, file };
}

const pkt = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;

const advertise = (service: string) => (place: Place, sending: Sending) =>
  visit("GET", `/${place.repo.owner}/${place.repo.name}.git/info/refs?service=${service}`, {
    ...sending,
    headers: { ...sending.headers, "Git-Protocol": "version=2" },
  });

/** Sends a command of protocol version 2. */
const command =
  (name: string, argsOf: (place: Place) => readonly string[]) =>
  (place: Place, sending: Sending): Promise<Answer> =>
    visit("POST", `/${place.repo.owner}/${place.repo.name}.git/git-upload-pack`, {
      ...sending,
      headers: {
        ...sending.headers,
        "Content-Type": "application/x-git-upload-pack-request",
        "Git-Protocol": "version=2",
      },
      body: `${pkt(`command=${name}\n`)}0001${argsOf(place).map(pkt).join("")}0000`,
    });

const locks = (rest: string) => (place: Place, sending: Sending) =>
  askLfs("GET", place.repo, `locks${rest}`, sending);

/** What git and its clients for large files send, but for what they write. */
const READS: Readonly<Record<string, (place: Place, sending: Sending) => Promise<Answer>>> = {
  "the advertisement of a fetch": advertise("git-upload-pack"),
  "the advertisement of a push": advertise("git-receive-pack"),
  "ls-refs": command("ls-refs", () => []),
  "a clone": command("fetch", ({ oid }) => [`want ${oid}\n`, "done\n"]),
  "a fetch of nothing new": command("fetch", ({ oid }) => [`want ${oid}\n`, `have ${oid}\n`]),
  "object-info": command("object-info", ({ oid }) => ["size\n", `oid ${oid}\n`]),
  "a batch of downloads": ({ repo, file: { oid, size } }, sending) =>
    askBatch(repo, "download", [{ oid, size }], sending),
  "a batch of uploads": ({ repo, file: { oid, size } }, sending) =>
    askBatch(repo, "upload", [{ oid, size }], sending),
  "a download": ({ repo, file }, sending) =>
    askLfs("GET", repo, `objects/${file.oid}`, { ...sending, headers: sending.headers ?? {} }),
  "the verification of an upload": ({ repo, file: { oid, size } }, sending) =>
    askLfs("POST", repo, "verify", { ...sending, json: { oid, size } }),
  "the locks": locks(""),
  "a lock by its path": locks("?path=a.bin"),
  "the locks before a push": ({ repo }, sending) =>
    askLfs("POST", repo, "locks/verify", { ...sending, json: {} }),
};

/** How clients of git send who they are. */
const CALLERS: Readonly<Record<string, (owner: TestUser) => Sending>> = {
  nobody: () => ({}),
  "a token": ({ token }) => ({ token }),
  "a token as a password": ({ name, token }) => ({ headers: basic(name, token) }),
  "a password": ({ name, password }) => ({ headers: basic(name, password) }),
};

const cases = Object.entries(READS).flatMap(([name, read]) =>
  Object.entries(CALLERS).map(([caller, toSending]) => [name, caller, read, toSending] as const),
);

let places: readonly [Place, Place];
beforeAll(async () => {
  places = [await makePlace(), await makePlace()];
});

describe("the SQL of a request of git", () => {
  it.each(cases)("is built once and bound for other rows: %s by %s", async (...each) => {
    const [, , read, toSending] = each;
    const lines = [];
    for (const place of places) {
      const sending = toSending(place.owner);
      // A password is hashed and recorded once.
      await call("GET", "/version", sending);
      const { line } = await logged(() => read(place, sending));
      lines.push(line);
    }
    const [, second] = lines;
    // Only who writes a large file, or locks, must sign in.
    expect([200, 401]).toContain(second?.status);
    expect(second?.sqlBuilds).toBe(0);
  });

  it("is of requests that a signed-in user may make", async () => {
    for (const read of Object.values(READS)) {
      const { status } = await read(places[0], { token: places[0].owner.token });
      expect(status).toBe(200);
    }
  });
});

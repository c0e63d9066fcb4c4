import { beforeAll, describe, expect, it } from "vitest";

import { type Answer, visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { storePush } from "../support/push.ts";

const pkt = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;
/** Lines as pkt-lines; `0000` and `0001` are copied. */
const pkts = (...lines: string[]): string =>
  lines.map((line) => (line.startsWith("000") ? line : pkt(`${line}\n`))).join("");

let owner: TestUser;
let repo: TestRepo;
let first: string;
let second: string;

beforeAll(async () => {
  owner = await make.user();
  repo = await make.repo(owner);
  const history = new History();
  first = history.commit({ files: { file: "1" } });
  second = history.commit({ files: { file: "2" }, parents: [first] });
  await storePush(repo, "refs/heads/main", second, history.build());
});

const advertise = async (version: number): Promise<string> => {
  const path = `/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`;
  const headers = { "Git-Protocol": `version=${version}` };
  return String((await visit("GET", path, { as: owner, headers })).body);
};

const upload = (body: string, version: number): Promise<Answer> =>
  visit("POST", `/${repo.owner}/${repo.name}.git/git-upload-pack`, {
    as: owner,
    headers: {
      "Content-Type": "application/x-git-upload-pack-request",
      "Git-Protocol": `version=${version}`,
    },
    body,
  });

describe("server-option", () => {
  it("is advertised in version 2", async () => {
    expect(await advertise(2)).toContain(pkt("server-option\n"));
  });

  it("is accepted with every command, any number of times", async () => {
    const options = ["server-option=a", "server-option=key=value with spaces", "server-option="];
    const listed = await upload(pkts("command=ls-refs", ...options, "0001", "0000"), 2);
    expect(listed.body).toContain(`${second} refs/heads/main`);
    const fetched = await upload(
      pkts("command=fetch", ...options, "0001", `want ${second}`, "done", "0000"),
      2,
    );
    expect(fetched.body).toContain("PACK");
  });
});

describe.each([0, 1])("no-done in version %i", (version) => {
  const negotiate = (capabilities: string, ...rest: string[]) =>
    upload(pkts(`want ${second} ${capabilities}`, "0000", ...rest), version);

  it("is advertised", async () => {
    expect(await advertise(version)).toMatch(/[\0 ]no-done[ \n]/);
  });

  it("sends the pack after `ready`, without another request", async () => {
    const { body } = await negotiate("multi_ack_detailed no-done", `have ${first}`, "0000");
    const acks = [`ACK ${first} common`, `ACK ${first} ready`, "NAK", `ACK ${first}`];
    const acknowledged = acks.map((line) => pkt(`${line}\n`)).join("");
    expect(body.slice(0, acknowledged.length)).toBe(acknowledged);
    expect(body.slice(acknowledged.length)).toMatch(/^PACK/);
  });

  it("sends no pack before the server is ready", async () => {
    const unknown = "1".repeat(40);
    const { body } = await negotiate("multi_ack_detailed no-done", `have ${unknown}`, "0000");
    expect(body).toBe(pkt("NAK\n"));
  });

  it("changes nothing for a client that does not ask for it, or not with detailed answers", async () => {
    for (const capabilities of ["multi_ack_detailed", "no-done", "multi_ack no-done"]) {
      const { body } = await negotiate(capabilities, `have ${first}`, "0000");
      expect(body).toContain(`ACK ${first}`);
      expect(body).not.toContain("PACK");
    }
    const done = await negotiate("multi_ack_detailed no-done", `have ${first}`, "done");
    expect(done.body).toContain("PACK");
  });
});

describe("a filter that is not supported", () => {
  it.each([
    "sparse:oid=main:x",
    "object:type=blob",
    "combine:object%3atype=tree+blob:none",
    "combine:combine%3ablob%3anone",
  ])("gets a message that names the supported ones: %s", async (filter) => {
    const args = [`filter ${filter}`, `want ${second}`, "done", "0000"];
    const older = pkts(`want ${second} filter`, `filter ${filter}`, "0000", "done");
    for (const { status, body } of [
      await upload(pkts("command=fetch", "0001", ...args), 2),
      await upload(older, 0),
    ]) {
      expect(status).toBe(200);
      expect(body).toMatch(/^[0-9a-f]{4}ERR the filter \S+ is not supported/);
      expect(body).toContain("blob:none, blob:limit=<bytes>, tree:<depth>");
    }
  });
});

import { beforeAll, describe, expect, it, vi } from "vitest";

import { ACCESS } from "../../src/db/schema/index.ts";
import { call } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { eventsOf } from "../support/events.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { type Command, filesOf, makeEmptyPack, pushCommands, refsOf } from "../support/push.ts";

let owner: TestUser;
let repo: TestRepo;
let history: History;
let first: string;
let second: string;

beforeAll(async () => {
  owner = await make.user();
  repo = await make.repo(owner);
  history = new History();
  first = history.commit();
  second = history.commit({ parents: [first] });
  const refs = [
    { ref: "refs/heads/main", new: first },
    { ref: "refs/tags/second", new: second },
  ];
  await send(refs, "", history.build());
});

/** Pushes with side-bands, and returns the response's text. */
async function send(commands: readonly Command[], quiet: string, pack = makeEmptyPack()) {
  const capabilities = `side-band-64k ${quiet}`;
  const { body } = await pushCommands(owner, repo, commands, { pack, capabilities });
  return String(body);
}

const hint = (branch: string, path = branch): string =>
  `\nCreate a new pull request for '${branch}':\n` +
  `  https://forge.example/${repo.owner}/${repo.name}/pulls/new/${path}\n`;

// A client whose output is no terminal asks for `quiet`, which is about progress only.
describe.each(["", "quiet"])("the hint of a pull request with capabilities %j", (quiet) => {
  const name = (branch: string): string => `${branch}${quiet}`;

  it("follows a push to a branch, a new one and one that exists", async () => {
    const ref = `refs/heads/${name("fix/größe")}`;
    const expected = hint(name("fix/größe"), name("fix/gr%C3%B6%C3%9Fe"));
    expect(await send([{ ref, new: first }], quiet)).toContain(expected);
    expect(await send([{ ref, old: first, new: second }], quiet)).toContain(expected);
  });

  it("names each of several branches, but not the default branch and no tag", async () => {
    const refs = ["heads/main", `heads/${name("a")}`, `heads/${name("b")}`, `tags/${name("v1")}`];
    const commands = refs.map((ref) => ({ ref: `refs/${ref}`, new: first }));
    const text = await send(commands, quiet);
    expect(text).toContain(hint(name("a")));
    expect(text).toContain(hint(name("b")));
    expect(text.match(/pull request/g)).toHaveLength(2);
  });

  it("follows neither a refused nor a deleted branch", async () => {
    const ref = `refs/heads/${name("gone")}`;
    expect(await send([{ ref, new: "1".repeat(40) }], quiet)).not.toContain("pull request");
    await send([{ ref, new: first }], quiet);
    expect(await send([{ ref, old: first }], quiet)).not.toContain("pull request");
  });

  it("is not given for the first branch, nor where there are no pull requests", async () => {
    const own = await make.repo(owner);
    const push = async (ref: string) => {
      const capabilities = `side-band-64k ${quiet}`;
      const pack = history.build();
      return (await pushCommands(owner, own, [{ ref, new: first }], { pack, capabilities })).body;
    };
    expect(await push("refs/heads/first")).not.toContain("pull request");
    const path = `/repos/${own.owner}/${own.name}`;
    await call("PATCH", path, { as: owner, json: { has_pull_requests: false } });
    expect(await push("refs/heads/topic")).not.toContain("pull request");
  });
});

it("quiet silences progress, and not the word that push options had no effect", async () => {
  const ref = "refs/heads/options";
  const loud = await send([{ ref, new: first }], "");
  expect(loud).toContain("Processed 1 reference");
  const writer = await make.user();
  await make.collaborator(repo, writer, ACCESS.write);
  const { body } = await pushCommands(writer, repo, [{ ref, old: first, new: second }], {
    pack: makeEmptyPack(),
    capabilities: "side-band-64k quiet push-options",
    options: ["repo.private=true"],
  });
  expect(body).not.toContain("Processed");
  expect(body).toContain("push options were not applied");
});

describe("a push from a shallow clone", () => {
  it("that would leave the history cut off is refused with a hint, and writes nothing", async () => {
    const own = await make.repo(owner);
    const shallow = new History();
    const tip = shallow.commit({ parents: ["2".repeat(40)] });
    const { body } = await pushCommands(owner, own, [{ ref: "refs/heads/main", new: tip }], {
      pack: shallow.build(),
      shallow: [tip],
    });
    expect(body).toContain("unpack ok");
    expect(body).toContain("ng refs/heads/main shallow update not allowed");
    expect([await refsOf(own), await eventsOf(own)]).toEqual([[], []]);
    await vi.waitFor(async () => expect(await filesOf(own)).toEqual([]));
  });

  it("whose boundary the repository has is accepted", async () => {
    const more = new History();
    const tip = more.commit({ parents: [second], files: { new: "file" } });
    const { body } = await pushCommands(owner, repo, [{ ref: "refs/heads/deep", new: tip }], {
      pack: more.build(),
      shallow: [second],
    });
    expect(body).toContain("ok refs/heads/deep");
  });
});

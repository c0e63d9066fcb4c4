import { describe, expect, it, vi } from "vitest";

import { DEFAULT_SEVERITIES, FINDING_IDS, FINDING_RULES } from "../../src/git/object/finding.ts";
import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { codec } from "../../src/storage/codec.ts";
import { visit as visitAsIs } from "../support/call.ts";
import { make } from "../support/make.ts";
import { ODD_HISTORIES, type OddHistory } from "../support/odd-histories.ts";
import { filesOf, pushCommands, refsOf } from "../support/push.ts";
import { doorsWith } from "../support/service.ts";

const PAGE = /https?:\/\/[^\s]+\/-\/docs\/object-checks/;

const pushHistory = async (
  history: Pick<OddHistory, "refs" | "pack">,
  visit = visitAsIs,
  capabilities = "side-band-64k",
) => {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const commands = history.refs.map(({ ref, oid }) => ({ ref, new: oid }));
  const { pack } = history;
  const { body } = await pushCommands(owner, repo, commands, { pack, visit, capabilities });
  return { repo, body: String(body) };
};

const named = (name: string): OddHistory => {
  const found = ODD_HISTORIES.find((history) => history.name === name);
  if (!found) throw new Error(`there is no history ${name}`);
  return found;
};

const cases = (severity: string) =>
  ODD_HISTORIES.filter(({ id }) => DEFAULT_SEVERITIES[id] === severity).map(
    (history): [string, OddHistory] => [history.name, history],
  );

describe("a pushed history with a finding", () => {
  it.each(cases("warn"))("is accepted with a warning: %s", async (_, history) => {
    const { repo, body } = await pushHistory(history);
    const { id, kind, oid, refs } = history;
    expect(body).toContain(`warning: ${kind} ${oid}: ${id}: ${FINDING_RULES[id].text}\n`);
    expect(body).toContain("See https://forge.example/-/docs/object-checks\n");
    expect(body.match(/warning: /g)).toHaveLength(1);
    expect(body).toContain("unpack ok");
    expect((await refsOf(repo)).map(({ oid: value }) => value)).toEqual(
      refs.map((each) => each.oid),
    );
  });

  it.each(cases("error"))("is refused, and nothing is stored: %s", async (_, history) => {
    const { repo, body } = await pushHistory(history);
    const { id, kind, oid, refs } = history;
    const words = `${kind} ${oid}: ${id}: ${FINDING_RULES[id].text}`;
    expect(body).toContain(`error: ${words}\n`);
    expect(body).toMatch(
      new RegExp(`unpack ${words.replaceAll(".", "\\.")}; see ${PAGE.source}\n`),
    );
    for (const { ref } of refs) expect(body).toContain(`ng ${ref} unpacker error`);
    expect(await refsOf(repo)).toEqual([]);
    await vi.waitFor(async () => expect(await filesOf(repo)).toEqual([]));
  });

  it("has one history for each finding that an object of a pack can have", () => {
    const shown = new Set(ODD_HISTORIES.map(({ id }) => id));
    expect(FINDING_IDS.filter((id) => !shown.has(id))).toEqual([
      // Git's check of the headers finds these first.
      "badGpgsig",
      "badHeaderContinuation",
      // A tree with such an entry can't be read: badTree.
      "emptyName",
      // Ignored by git, too.
      "extraHeaderEntry",
      // 4 MB.
      "gitattributesLarge",
      // The link to a missing object is refused first.
      "gitattributesMissing",
      "gitmodulesLarge",
      "gitmodulesMissing",
      "missingTag",
      "missingType",
      "unknownType",
    ]);
  });
});

/** A history of commits with one identity, the newest last. */
function makeChain(
  identities: readonly string[],
  trees: readonly Uint8Array[] = [],
): OddHistory["pack"] & { tip?: string } {
  const builder = new PackBuilder(codec);
  const empty = builder.add("tree", new Uint8Array(0));
  for (const tree of trees) builder.add("tree", tree);
  let tip = "";
  for (const identity of identities) {
    const parent = tip && `parent ${tip}\n`;
    const content = `tree ${empty}\n${parent}author ${identity}\ncommitter ${identity}\n\nm\n`;
    tip = builder.add("commit", encodeUtf8(content));
  }
  return Object.assign(builder.build(), { tip });
}

const pushChain = (pack: ReturnType<typeof makeChain>, ...rest: [typeof visitAsIs?, string?]) =>
  pushHistory({ refs: [{ ref: "refs/heads/main", oid: pack.tip ?? "" }], pack }, ...rest);

const zone = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `A <a@example.com> ${1_700_000_000 + at} UTC`);

describe("the report of findings", () => {
  it("has one line for each finding, however many objects have it", async () => {
    const { body } = await pushChain(makeChain([...zone(150), "A <a@example.com> 01 +0000"]));
    expect(body.match(/warning: .*/g)).toEqual([
      expect.stringMatching(/badTimezone: .* \(and 149 more\)$/),
      expect.stringMatching(/zeroPaddedDate: .* begins with a zero$/),
    ]);
  });

  it("has ten lines at most, errors first", async () => {
    const identities = [
      "<a@b> 1 +0000",
      "A 1 +0000",
      "A<a@b> 1 +0000",
      "A> <a@b> 1 +0000",
      "A <a<b> 1 +0000",
      "A <a@b>1 +0000",
      "A <a@b> x +0000",
      "A <a@b> 01 +0000",
      "A <a@b> 1 x",
      "A <a@b> 99999999999999999999 +0000",
    ];
    const modes = ["0100644 a", "100664 a"].map((entry) =>
      encodeUtf8(`${entry}\0${"\x01".repeat(20)}`),
    );
    const hostile = encodeUtf8(`40000 .git\0${"\x01".repeat(20)}`);
    const { body, repo } = await pushChain(makeChain(identities, [...modes, hostile]));
    const lines = body.match(/(?:warning|error): .*/g) ?? [];
    expect(lines).toHaveLength(10);
    expect(lines[0]).toMatch(/^error: tree \w{40}: hasDotgit/);
    expect(body).toContain("and 3 other findings\n");
    expect(await refsOf(repo)).toEqual([]);
  });

  // SECURITY: a list of findings that is bounded by their number would drop the one that refuses
  // the pack.
  it("never hides an error behind many warnings", async () => {
    const pack = makeChain(
      [...zone(500), "A <a@example.com> 1 +0000"],
      [encodeUtf8("100644 a\0x")],
    );
    const { body, repo } = await pushChain(pack);
    expect(body).toMatch(/unpack tree \w{40}: badTree/);
    expect(await refsOf(repo)).toEqual([]);
  });

  it("comes also to a client that wants no progress, and to none without the side band", async () => {
    const pack = makeChain(zone(1));
    expect((await pushChain(pack, undefined, "side-band-64k quiet")).body).toContain("badTimezone");
    const { body, repo } = await pushChain(pack, undefined, "");
    expect(body).not.toContain("badTimezone");
    expect(await refsOf(repo)).toHaveLength(1);
  });

  it("leads to a page that explains each finding, with this service's severities", async () => {
    const [url = ""] = PAGE.exec((await pushChain(makeChain(zone(1)))).body) ?? [];
    const path = new URL(url).pathname;
    const page = await visitAsIs("GET", path);
    expect(page.status).toBe(200);
    for (const id of FINDING_IDS) expect(page.body).toMatch(new RegExp(`^${id} +\\w+ +\\S`, "m"));
    expect(page.body).toMatch(/^badTimezone +warning /m);
    const strict = await doorsWith({ RECEIVE_FSCK: "badTimezone=error" })("GET", path);
    expect(strict.body).toMatch(/^badTimezone +refused /m);
  });
});

describe("RECEIVE_FSCK", () => {
  it("refuses what is accepted otherwise", async () => {
    const visit = doorsWith({ RECEIVE_FSCK: "badTimezone=error" });
    const { body, repo } = await pushChain(makeChain(zone(2)), visit);
    expect(body).toMatch(/unpack commit \w{40}: badTimezone/);
    expect(await refsOf(repo)).toEqual([]);
  });

  it("accepts what is refused otherwise, with a warning or without", async () => {
    const history = named("hasDotgit: in capitals");
    const warned = await pushHistory(history, doorsWith({ RECEIVE_FSCK: "hasDotgit=warn" }));
    expect(warned.body).toContain(`warning: tree ${history.oid}: hasDotgit`);
    const silent = await pushHistory(history, doorsWith({ RECEIVE_FSCK: "hasDotgit=ignore" }));
    expect(silent.body).not.toMatch(/warning|hasDotgit/);
    for (const { repo } of [warned, silent]) expect(await refsOf(repo)).toHaveLength(1);
  });
});

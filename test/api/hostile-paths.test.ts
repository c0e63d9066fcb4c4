import { beforeAll, describe, expect, it } from "vitest";

import { type Answer, call } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { makeEmptyPack, pushCommands } from "../support/push.ts";
import { byId, isRead, sampled, type SampledOperation } from "../support/samples/gather.ts";
import { chunksOf, isText, matrixOf } from "../support/samples/matrix.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

/** The reads of a public repository that accept anonymous callers. */
const readable = sampled.filter(
  (operation) =>
    operation.allowsAnonymous &&
    operation.sample.refusal === undefined &&
    isRead(operation) &&
    operation.path.startsWith("/repos/{owner}/{repo}/"),
);

/** Parameters that can name a revision, an object or a path. */
const namingOf = ({ parameters }: SampledOperation) =>
  parameters.filter((each) => isText(each) && each.name !== "owner" && each.name !== "repo");
const reads = readable.filter((operation) => namingOf(operation).length > 0);

/** Text in files that the caller may not read. */
const SECRET = "the-secret-of-somebody-else";

/**
 * Names with a meaning to git's command line, to a file system or to HTTP, and meaningless ones.
 */
const SUFFIXES = [
  "~1",
  "^",
  "^{}",
  "^{/Change}",
  "@{0}",
  "@{-1}",
  ":a",
  ".lock",
  "*",
  "\n",
  "\r\nX-Injected: 1",
  "\0",
  " ",
  "/..",
  "\\",
];
const OTHERS = [
  "..",
  "../..",
  "a/../b",
  "./a",
  "//",
  "..\\..\\a",
  "\0a",
  "-",
  "--output=x",
  "@",
  "HEAD^",
  "refs/",
  "refs/heads",
  "refs/../HEAD",
  ".git/config",
  ":/Change",
  ":(top)a",
  "^main",
  "0000",
  "0".repeat(40),
  "g".repeat(40),
  "0".repeat(64),
  "x".repeat(5000),
  "a/".repeat(2500),
  "\u00e9".repeat(2000),
];
/** Raw URL text that is not the encoding of a string. */
const RAW = [
  "%2e%2e%2fa %252e%252e%252fa %2F %5c..%5ca %c0%ae%c0%ae/ %FF %ED%A0%80 %0a %00 % %u0041",
  "main+ main;x=1 main%3Fref=x a&ref=b",
].flatMap((line) => line.split(" "));
const NAMES = SUFFIXES.map((suffix) => `main${suffix}`).concat(OTHERS);
const VALUES = NAMES.map(encodeURIComponent).concat(RAW);

/**
 * A public repository, and two unreachable commits: one removed from it, one in a private
 * repository of the owner.
 */
async function makeFixture() {
  const world = new World();
  const [owner, repo] = [await world.user(), await world.repo()];
  await world.code();
  const history = new History();
  const gone = history.commit({ files: { file: SECRET }, message: `${SECRET}\n` });
  await pushCommands(owner, repo, [{ ref: "refs/heads/gone", new: gone }], {
    pack: history.build(),
  });
  expect((await call("GET", `/repos/${owner.name}/${repo.name}/raw/file?ref=gone`)).body).toBe(
    SECRET,
  );
  await pushCommands(owner, repo, [{ ref: "refs/heads/gone", old: gone }], {
    capabilities: "delete-refs",
  });
  const hiddenWorld = new World({ owner, repo: { isPrivate: true }, text: SECRET });
  const hidden = await hiddenWorld.repo();
  const { oid: secret } = await hiddenWorld.code();
  await pushCommands(owner, hidden, [{ ref: "refs/heads/other", new: secret }], {
    pack: makeEmptyPack(),
  });
  return { world, hiddenWorld, owner, hidden, gone, secret };
}

let fixture: Awaited<ReturnType<typeof makeFixture>>;
beforeAll(async () => {
  fixture = await makeFixture();
});

/** The URL path of an operation's sample, with another value for one parameter. */
async function pathWith(
  operation: SampledOperation,
  { name, in: where, value }: { name: string; in: string; value: string },
): Promise<string> {
  const { path, values } = await requestIn(fixture.world, operation);
  if (where === "query") {
    const [pathname, query = ""] = path.split("?");
    const others = new URLSearchParams(query);
    others.delete(name);
    return `${pathname}?${others.size > 0 ? `${others.toString()}&` : ""}${name}=${value}`;
  }
  const encoded = (each: string): string => encodeURIComponent(String(values[each] ?? ""));
  const query = path.includes("?") ? path.slice(path.indexOf("?")) : "";
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, each: string) =>
    each === name ? value : encoded(each),
  );
  return filled + query;
}

const valuesFor = matrixOf(VALUES);

/** The values for each operation, in tests of about a hundred requests. */
const cases = reads.flatMap((operation) => {
  const sent = namingOf(operation).flatMap((parameter) =>
    valuesFor(parameter).map((value) => ({ name: parameter.name, in: parameter.in, value })),
  );
  return chunksOf(sent).map((list, at) => [`${operation.id} ${at + 1}`, operation, list] as const);
});

/** The fault of a response to a hostile request; undefined if there is none. */
function faultOf({ status, headers, body }: Answer): string | undefined {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (text.includes(SECRET)) return "reveals hidden content";
  if (headers.has("X-Injected")) return "contains an injected header";
  if (status < 300) return undefined;
  if (status === 404) return text === "" ? undefined : `404 with ${text}`;
  const isRefusal =
    status < 500 && typeof body.message === "string" && typeof body.url === "string";
  return isRefusal ? undefined : `${status} ${text}`;
}

/** The faults of an operation's responses to a list of parameter values. */
async function faultsOf(
  operation: SampledOperation,
  list: readonly { name: string; in: string; value: string }[],
): Promise<string[]> {
  const faults: string[] = [];
  const json = (await requestIn(fixture.world, operation)).content;
  for (const each of list) {
    const requestPath = await pathWith(operation, each);
    const fault = faultOf(await call(operation.method, requestPath, json));
    if (fault !== undefined) faults.push(`${requestPath.slice(0, 200)}: ${fault.slice(0, 200)}`);
  }
  return faults;
}

describe("each read of a public repository by a name", () => {
  it.each(cases)(
    "responds to any name without a server error and without hidden content: %s",
    async (_, operation, list) => {
      expect(await faultsOf(operation, list)).toEqual([]);
      expect(list.length).toBeGreaterThan(0);
    },
  );

  // SECURITY: commits that a forced push removed and commits of other repositories must stay
  // unreachable.
  it.each(byId(reads))(
    "does not find hidden objects by id, by name or by path: %s",
    async (_, operation) => {
      const { owner, hiddenWorld, hidden, gone, secret } = fixture;
      const shown = await requestIn(hiddenWorld, operation);
      const seen = await call(shown.method, shown.path, { as: owner, ...shown.content });
      expect(seen.status, "its owner sees it").toBeLessThan(300);
      const unseen = await call(shown.method, shown.path, shown.content);
      expect([unseen.status, unseen.body], "others do not").toEqual([404, ""]);

      const at = `${hidden.owner}/${hidden.name}`;
      const values = [
        ...[gone, secret].flatMap((oid) => [oid, oid.slice(0, 12), `${oid}^0`]),
        ...[gone, secret].flatMap((oid) => [`${oid}...main`, `main..${oid}`, `${oid}/file`]),
        `main...${at}:main`,
        `..%2F..%2F..%2F${at}%2Fraw%2Ffile`,
        `%252e%252e%252f${hidden.name}%252fraw%252ffile`,
        "refs%2Fheads%2Fgone",
        "other",
      ];
      const list = namingOf(operation).flatMap(({ name, in: where }) =>
        values.map((value) => ({ name, in: where, value })),
      );
      expect(await faultsOf(operation, list)).toEqual([]);
    },
  );
});

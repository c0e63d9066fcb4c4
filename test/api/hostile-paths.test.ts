import { beforeAll, describe, expect, it } from "vitest";

import { type Answer, call } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { make, type TestRepo } from "../support/make.ts";
import { operations, type Operation } from "../support/operations.ts";
import { makeEmptyPack, pushCommands } from "../support/push.ts";
import { makeTag } from "../support/tag.ts";

/** Parameters that name a revision, an object or a path. */
const NAMING = /^(?:sha|ref|branch|tag|filepath|basehead|archive|revision|path|not|body)$/;

/** What is read of git data by a name. */
const reads = operations.filter(
  ({ method, path, parameters }) =>
    method === "GET" &&
    path.startsWith("/repos/{owner}/{repo}/") &&
    parameters.some(({ name }) => NAMING.test(name)),
);

/** Text in files that the caller may not read. */
const SECRET = "the-secret-of-somebody-else";

/** Names that mean something to git's command line, to a file system, to HTTP, or to nobody. */
const NAMES = [
  ...[
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
  ],
  ...["\0", " ", "/..", "\\"],
].map((suffix) => `main${suffix}`);
const OTHERS = [
  ...["..", "../..", "a/../b", "./a", "//", "..\\..\\a", "\0a", "-", "--output=x", "@", "HEAD^"],
  ...["refs/", "refs/heads", "refs/../HEAD", ".git/config", ":/Change", ":(top)a", "^main", "0000"],
  "0".repeat(40),
  "g".repeat(40),
  "0".repeat(64),
  "x".repeat(5000),
  "a/".repeat(2500),
  "\u00e9".repeat(2000),
];
/** As they stand in an address, where that is no encoding of a text. */
const RAW = [
  ..."%2e%2e%2fa %252e%252e%252fa %2F %5c..%5ca %c0%ae%c0%ae/ %FF %ED%A0%80 %0a %00 % %u0041".split(
    " ",
  ),
  ..."main+ main;x=1 main%3Fref=x a&ref=b".split(" "),
];
const VALUES = [...[...NAMES, ...OTHERS].map(encodeURIComponent), ...RAW];

/** A public repository, and what nobody may read of it or of another that its owner has. */
async function makeScene() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const hidden = await make.repo(owner, { isPrivate: true });
  const history = new History();
  const first = history.commit({ files: { a: "1\n", "b/c": "2\n" } });
  const main = history.commit({ files: { a: "2\n", "b/c": "2\n" }, parents: [first] });
  const gone = history.commit({ files: { hidden: SECRET }, message: `${SECRET}\n` });
  const commands = [
    { ref: "refs/heads/main", new: main },
    { ref: "refs/heads/gone", new: gone },
  ];
  await pushCommands(owner, repo, commands, { pack: history.build() });
  const tag = makeTag(main, "v1");
  await pushCommands(owner, repo, [{ ref: "refs/tags/v1", new: tag.oid }], { pack: tag.pack });
  await pushCommands(owner, repo, [{ ref: "refs/heads/gone", old: gone }], {
    capabilities: "delete-refs",
  });
  const others = new History();
  const secret = others.commit({ files: { hidden: SECRET }, message: `${SECRET}\n` });
  await pushCommands(owner, hidden, [{ ref: "refs/heads/main", new: secret }], {
    pack: others.build(),
  });
  await pushCommands(owner, hidden, [{ ref: "refs/heads/other", new: secret }], {
    pack: makeEmptyPack(),
  });
  return { repo, hidden, gone, secret, tagOid: tag.oid };
}

let scene: Awaited<ReturnType<typeof makeScene>>;
beforeAll(async () => {
  scene = await makeScene();
});

/** Values that name something, for the other parameters of a path. */
const goodValues = ({ owner, name }: TestRepo): Record<string, string> => ({
  owner,
  repo: name,
  sha: "main",
  ref: "main",
  branch: "main",
  tag: "v1",
  filepath: "a",
  basehead: "main...main",
  diffType: "diff",
  archive: "main.zip",
  revision: "main",
});

const fill = (path: string, values: Record<string, string>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");

/** Each naming parameter of an operation, each with a value, as addresses below the API. */
function* addressesOf({ path, parameters }: Operation, values: readonly string[]) {
  const good = goodValues(scene.repo);
  for (const { name, in: where } of parameters.filter((each) => NAMING.test(each.name))) {
    for (const value of values) {
      if (where === "path") yield fill(path, { ...good, [name]: value });
      else yield `${fill(path, good)}?${name}=${value}`;
    }
  }
}

/** What is wrong with an answer to something that nobody should ask; undefined for nothing. */
function faultOf({ status, headers, body }: Answer): string | undefined {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (text.includes(SECRET)) return "tells what is hidden";
  if (headers.has("X-Injected")) return "takes a header along";
  if (status < 300) return undefined;
  if (status === 404) return text === "" ? undefined : `404 with ${text}`;
  const isRefusal =
    status < 500 && typeof body.message === "string" && typeof body.url === "string";
  return isRefusal ? undefined : `${status} ${text}`;
}

describe("each read of git data by a name", () => {
  it.each(reads.map((operation) => [operation.id, operation] as const))(
    "answers whatever name it is sent, and with nothing that is hidden: %s",
    async (_, operation) => {
      // Half of them for every other route: each name is met by many, and no route by few.
      const turn = reads.indexOf(operation) % 2;
      const values = VALUES.filter((_value, at) => at % 2 === turn);
      const faults: string[] = [];
      for (const address of addressesOf(operation, values)) {
        const fault = faultOf(await call("GET", address));
        if (fault !== undefined) faults.push(`${address.slice(0, 200)}: ${fault.slice(0, 200)}`);
      }
      expect(faults).toEqual([]);
    },
    60_000,
  );

  // SECURITY: neither what a forced push took away, nor what another repository has.
  it.each(reads.map((operation) => [operation.id, operation] as const))(
    "finds nothing hidden by its id, its name, or a way to it: %s",
    async (_, operation) => {
      const { hidden, gone, secret } = scene;
      const at = `${hidden.owner}/${hidden.name}`;
      const values = [
        ...[gone, secret].flatMap((oid) => [oid, oid.slice(0, 12), `${oid}^0`]),
        ...[gone, secret].flatMap((oid) => [`${oid}...main`, `main..${oid}`, `${oid}/hidden`]),
        `main...${at}:main`,
        `..%2F..%2F..%2F${at}%2Fraw%2Fhidden`,
        `%252e%252e%252f${hidden.name}%252fraw%252fhidden`,
        "refs%2Fheads%2Fgone",
        "other",
      ];
      const faults: string[] = [];
      for (const address of addressesOf(operation, values)) {
        const fault = faultOf(await call("GET", address));
        if (fault !== undefined) faults.push(`${address.slice(0, 200)}: ${fault.slice(0, 200)}`);
      }
      expect(faults).toEqual([]);
    },
  );
});

/**
 * `npm run bench:pages -- --gitea <program>`: pages beside a real Gitea with the same data, in
 * turns, and pages of a large history alone. Without a Gitea, the service alone.
 *
 * Runs the service as `npm start` does and Gitea with SQLite, both with their state in a temporary
 * directory. bench/README.md explains the numbers.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { openGitea } from "./peer/gitea.ts";
import { CONNECTIONS, type Measured, measureCase } from "./peer/measure.ts";
import { openSide, type Side } from "./peer/side.ts";
import { casesOf, OWNER, type PageCase, PROJECT } from "./pages/cases.ts";
import { layCollaboration, layLarge, PACKAGE, PACKAGE_VERSION } from "./pages/collaboration.ts";
import { LARGE, measureLarge, pushLarge } from "./pages/large.ts";
import { parseOptions } from "./pages/options.ts";
import { measurePaint } from "./pages/paint.ts";
import { signIn } from "./pages/session.ts";
import { chooseSubject } from "./pages/subject.ts";
import { git } from "./git/git.ts";
import { describeMachine } from "./support/machine.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openStartedService, type StartedService } from "./support/started-service.ts";
import { formatCells, formatInteger } from "./support/table.ts";

/** The largest share of the other side's bytes that is good enough. */
const BYTES_MAX = 0.5;

const PASSWORD = "The-password-of-the-owner-1";

async function bench(resources: Resources): Promise<void> {
  const { directory, track, release } = resources;
  const options = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  const data = join(directory, "data");
  const service = await track(openStartedService(data));
  const sides = [await ownSide(service)];
  if (options.gitea !== undefined) {
    const { gitea: program, giteaStatic } = options;
    const gitea = await track(openGitea(join(directory, "gitea"), { gitea: program, giteaStatic }));
    console.log(`beside Gitea ${gitea.version}`);
    sides.push({ ...(await openSide({ name: "Gitea", ...gitea })), origin: gitea.origin.href });
  }
  for (const side of sides) {
    await createOwner(side);
    const url = await createProject(side, PROJECT);
    await git(options.history, ["push", "--quiet", url, "HEAD:refs/heads/main"]);
    await layCollaboration({
      send: side.send,
      owner: OWNER,
      name: PROJECT,
      directory: await openBare(join(directory, side.name)),
      url,
    });
    await publish(side);
  }
  const sessions = new Map<PageSide, string>();
  for (const side of sides) sessions.set(side, await signIn(side.origin, OWNER, PASSWORD));
  const cases = casesOf(await chooseSubject(options.history));
  const rows: string[][] = [];
  for (const one of cases) {
    const opened = sides.map((side) => [side, { tokens: [], repositories: 0 }] as const);
    const headersOf = (side: Side | undefined): Record<string, string> => ({
      accept: "text/html",
      ...(one.isSignedIn && { cookie: sessions.get(side as PageSide) ?? "" }),
    });
    const measured = await measureCase(
      opened,
      {
        name: one.name,
        caller: "anonymous",
        status: 200,
        shareMin: one.rateMin,
        next: (_, __, token) => ({
          method: "GET",
          path: one.path,
          headers: headersOf(sides.find((side) => side.token === token)),
        }),
      },
      options.rounds,
      options.seconds,
    );
    const sizes = await Promise.all(
      sides.map((side) => sizesOf(new URL(one.path, side.origin), headersOf(side))),
    );
    rows.push(rowOf(one, measured, sizes));
    console.log(`measured: ${one.name}`);
  }
  console.log(
    `\nreq/s: ${CONNECTIONS} requests at once; p50: one at a time; medians of ${options.rounds} rounds of ${options.seconds} s\n`,
  );
  console.log(formatCells(COLUMNS, rows));
  for (const { name, path } of cases.filter(({ isPainted }) => isPainted)) {
    const paint = await measurePaint(`${service.origin}${path}`);
    console.log(
      `${name}: largest contentful paint ${formatInteger(paint.largestMs)} ms, layout shift ${paint.shift.toFixed(3)}`,
    );
  }
  const [own] = sides;
  const tip = own && options.commits > 0 ? await layLargeProject(own) : undefined;
  for (const side of sides) side.close();
  await release(service);
  if (tip === undefined) return;
  console.log(`\na history of ${formatInteger(options.commits)} commits\n`);
  console.log(await measureLarge(resources, data, tip));

  async function layLargeProject(side: PageSide): Promise<string> {
    const url = await createProject(side, LARGE);
    const pushed = await pushLarge(directory, url, options.commits);
    await layLarge({
      send: side.send,
      owner: OWNER,
      name: LARGE,
      directory: await openBare(join(directory, "wide")),
      url,
    });
    return pushed;
  }
}

async function openBare(path: string): Promise<string> {
  mkdirSync(path, { recursive: true });
  const directory = join(path, "branches.git");
  mkdirSync(directory);
  await git(directory, ["init", "--quiet", "--bare"]);
  return directory;
}

/** Publishes a package of the owner. */
async function publish({ origin, token }: PageSide): Promise<void> {
  const path = `/api/packages/${OWNER}/generic/${PACKAGE}/${PACKAGE_VERSION}/tool.bin`;
  const answer = await fetch(new URL(path, origin), {
    method: "PUT",
    headers: { authorization: `token ${token}` },
    body: "a file of the package",
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
}

/** A side with its address. */
type PageSide = Side & { origin: string };

const ownSide = async ({ origin, pid, password }: StartedService): Promise<PageSide> => ({
  ...(await openSide({
    name: "Edgeforge",
    origin: new URL(origin),
    pid,
    administrator: { name: "root", password },
  })),
  origin,
});

const createOwner = (side: Side): Promise<unknown> =>
  side.send("POST", "/admin/users", {
    username: OWNER,
    email: `${OWNER}@example.com`,
    password: PASSWORD,
    must_change_password: false,
  });

/** @returns The address to push to. */
async function createProject(side: PageSide, name: string): Promise<string> {
  await side.send("POST", `/admin/users/${OWNER}/repos`, { name, default_branch: "main" });
  const url = new URL(`/${OWNER}/${name}.git`, side.origin);
  url.username = OWNER;
  url.password = PASSWORD;
  return url.href;
}

type Sizes = { bytes: number; compressed: number };

async function sizesOf(url: URL, headers: Record<string, string>): Promise<Sizes> {
  const answer = await fetch(url, { headers });
  const body = Buffer.from(await answer.arrayBuffer());
  return { bytes: body.length, compressed: gzipSync(body).length };
}

const COLUMNS = [
  "page",
  "req/s",
  "Gitea",
  "ratio",
  "CPU ms",
  "Gitea",
  "ratio",
  "p50 ms",
  "Gitea",
  "KB",
  "Gitea",
  "ratio",
  "KB, gzip",
  "Gitea",
];

/** A row of the table; a ratio that misses its goal is marked. */
function rowOf(one: PageCase, measured: readonly Measured[], sizes: readonly Sizes[]): string[] {
  const [own, peer] = measured;
  const [ownSizes, peerSizes] = sizes;
  if (!own || !ownSizes) throw new Error("the service was not measured");
  const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(0);
  const beside = (text: (peer: Measured, peerSizes: Sizes) => string): string =>
    peer && peerSizes ? text(peer, peerSizes) : "-";
  const mark = (ratio: number, isMissed: boolean) => `${ratio.toFixed(2)}${isMissed ? " (!)" : ""}`;
  return [
    one.name,
    formatInteger(own.perSecond),
    beside(({ perSecond }) => formatInteger(perSecond)),
    beside(({ perSecond }) => {
      const ratio = own.perSecond / perSecond;
      return mark(ratio, ratio < one.rateMin);
    }),
    own.cpuMs.toFixed(1),
    beside(({ cpuMs }) => cpuMs.toFixed(1)),
    beside(({ cpuMs }) => {
      const ratio = own.cpuMs / cpuMs;
      return mark(ratio, one.cpuMax !== undefined && ratio > one.cpuMax);
    }),
    own.p50Ms.toFixed(1),
    beside(({ p50Ms }) => p50Ms.toFixed(1)),
    kilobytes(ownSizes.bytes),
    beside((_, { bytes }) => kilobytes(bytes)),
    beside((_, { bytes }) => {
      const ratio = ownSizes.bytes / bytes;
      return mark(ratio, ratio > BYTES_MAX);
    }),
    kilobytes(ownSizes.compressed),
    beside((_, { compressed }) => kilobytes(compressed)),
  ];
}

await withResources(bench);

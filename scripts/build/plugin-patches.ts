import { Refusal } from "../refusal.ts";

/** A module of the Vitest plugin, and a function that patches its source. */
export interface Patch {
  module: string;
  patch: (source: string) => string;
}

/** The patches of the plugin's copy that the tests use. */
export const PATCHES: readonly Patch[] = [
  { module: "dist/worker/lib/cloudflare/test-internal.mjs", patch: patchImportModule },
  { module: "dist/worker/index.mjs", patch: sendPendingLogs },
  { module: "dist/worker/index.mjs", patch: quoteByPlatform },
  { module: "dist/pool/index.mjs", patch: ignoreExpectedMessages },
  { module: "dist/pool/index.mjs", patch: ignoreLateMessages },
  { module: "dist/pool/index.mjs", patch: quoteByPlatform },
];

const IMPORT_MODULE = "async function importModule(specifier) {\n";
const IMPORT = "__vitest_mocker__.moduleRunner.import(specifier)";
const FIND_IMPORTED = `\tconst imported = __vitest_mocker__.moduleRunner.evaluatedModules.getModuleById(specifier);
	if (imported?.evaluated && imported.exports) return imported.exports;
`;

/**
 * Makes the import of the Worker return a module that is already loaded.
 *
 * The plugin imports the Worker's module again for every request and every call of a Durable
 * Object: a call to the object that runs the tests, and another to Node to resolve the path. With a
 * look-up in the runner's cache first, a request takes 0.8 ms instead of 2.9, a push 33 ms instead
 * of 48.
 *
 * @throws Refusal if the plugin imports the Worker in another way.
 */
export function patchImportModule(source: string): string {
  return insertAfter(IMPORT_MODULE, FIND_IMPORTED, source, (rest) => rest.includes(IMPORT));
}

const LOG_QUEUED = "pendingConsoleLogs.push(response);\n";
const SEND_QUEUED = `if (pendingConsoleLogs.length === 1)
	registerHandlerAndGlobalWaitUntil(runInRunnerObject(sendPendingConsoleLogs).catch(() => {}));
`;

/**
 * Makes the plugin send the log lines of Durable Objects and queue consumers in a call of their
 * own.
 *
 * The plugin queues these lines until it sends anything else, which each import of the Worker did.
 * Without these imports, the last log line would stay queued, and the run would wait for it for
 * ever.
 *
 * @throws Refusal if the plugin does not queue log lines.
 */
function sendPendingLogs(source: string): string {
  return insertAfter(LOG_QUEUED, SEND_QUEUED, source, () => true);
}

const QUOTE = "function stringify_string(str) {\n";
const QUOTE_BY_PLATFORM = "\treturn JSON.stringify(str); // By the platform.\n";

/**
 * Makes the plugin quote strings by the platform, and not character by character: each module that
 * a test loads is one string.
 *
 * @throws Refusal if the plugin quotes strings in another way.
 */
function quoteByPlatform(source: string): string {
  return insertAfter(QUOTE, QUOTE_BY_PLATFORM, source, (rest) =>
    rest.includes("get_escaped_char("),
  );
}

const IGNORED_MESSAGES = "const ignoreMessages = [\n";

/** Messages of the runtime when a test cuts the connection of a webhook receiver or a client. */
const CUT_CONNECTIONS = [
  "failed to lookup address information",
  "Error: internal error; reference",
  "Network connection lost",
  "client disconnected",
  "disconnected: ",
];

/**
 * Messages of the runtime when a test breaks a foreign key that is checked only when the
 * transaction ends.
 */
const BROKEN_FOREIGN_KEYS = ["FOREIGN KEY constraint failed: SQLITE_CONSTRAINT"];

/**
 * Makes the plugin ignore the runtime's messages about what tests do on purpose.
 *
 * @throws Refusal if the plugin has no list of ignored messages.
 */
function ignoreExpectedMessages(source: string): string {
  const messages = [...CUT_CONNECTIONS, ...BROKEN_FOREIGN_KEYS].map(
    (message) => `\t${JSON.stringify(message)},\n`,
  );
  return insertAfter(IGNORED_MESSAGES, messages.join(""), source, () => true);
}

const MODULE_FETCHED = 'd$1.m === "fetch") {\n';
const IGNORE_LATE = "\t\t\t\t\tif (!this.socket) return; // The run has ended.\n";

/**
 * Makes the plugin ignore that a job asks for a module after the last test: it would fail the run,
 * since the connection is closed by then.
 *
 * @throws Refusal if the plugin answers such requests in another way.
 */
function ignoreLateMessages(source: string): string {
  return insertAfter(MODULE_FETCHED, IGNORE_LATE, source, (rest) =>
    rest.trimStart().startsWith("assert(this.socket,"),
  );
}

function insertAfter(
  anchor: string,
  inserted: string,
  source: string,
  isKnown: (rest: string) => boolean,
): string {
  const [before, after, ...more] = source.split(anchor);
  if (before === undefined || after === undefined || more.length > 0 || !isKnown(after)) {
    throw new Refusal(
      `the Vitest plugin differs from what scripts/build/plugin-patches.ts expects at "${anchor.trim()}": ` +
        "check whether the patch is still needed, and remove or update it",
    );
  }
  return before + anchor + inserted + after;
}

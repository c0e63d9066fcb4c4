import { Refusal } from "../refusal.ts";

/** A module of the Vitest plugin, and what becomes of it. */
export interface Patch {
  module: string;
  patch: (source: string) => string;
}

/** What is changed in the copy of the plugin that the tests run with. */
export const PATCHES: readonly Patch[] = [
  { module: "dist/worker/lib/cloudflare/test-internal.mjs", patch: patchImportModule },
  { module: "dist/worker/index.mjs", patch: sendPendingLogs },
  { module: "dist/pool/index.mjs", patch: ignoreCutConnections },
];

const IMPORT_MODULE = "async function importModule(specifier) {\n";
const IMPORT = "__vitest_mocker__.moduleRunner.import(specifier)";
const FIND_IMPORTED = `\tconst imported = __vitest_mocker__.moduleRunner.evaluatedModules.getModuleById(specifier);
	if (imported?.evaluated && imported.exports) return imported.exports;
`;

/**
 * Puts a look at what is imported already before the import of the Worker.
 *
 * The plugin imports the Worker's module again for every request and every call of a Durable Object: a trip
 * through the object that runs the tests, and another to Node to resolve the path. The module runner knows what it
 * has: asked first, a request takes 0.8 ms instead of 2.9, a push 33 ms instead of 48.
 *
 * @throws Refusal when the plugin imports the Worker in another way.
 */
export function patchImportModule(source: string): string {
  return insertAfter(IMPORT_MODULE, FIND_IMPORTED, source, (rest) => rest.includes(IMPORT));
}

const LOG_KEPT = "pendingConsoleLogs.push(response);\n";
const SEND_KEPT = `if (pendingConsoleLogs.length === 1)
	registerHandlerAndGlobalWaitUntil(runInRunnerObject(sendPendingConsoleLogs).catch(() => {}));
`;

/**
 * Has the plugin send what objects and consumers of queues log, by a trip of its own.
 *
 * The plugin keeps such lines until anything else is sent, which imports of the Worker did all the time. Without
 * them a line that is logged last would stay, and the run would wait for it for ever.
 *
 * @throws Refusal when the plugin keeps no lines.
 */
function sendPendingLogs(source: string): string {
  return insertAfter(LOG_KEPT, SEND_KEPT, source, () => true);
}

const IGNORED_MESSAGES = "const ignoreMessages = [\n";

/** What the runtime says on its own when a receiver of webhooks, or a client, is cut off, as tests have it. */
const CUT_CONNECTIONS = [
  "failed to lookup address information",
  "Error: internal error; reference",
  "Network connection lost",
  "client disconnected",
  "disconnected: ",
];

/**
 * Has the plugin pass over what the runtime says of connections that tests cut.
 *
 * @throws Refusal when the plugin has no list of what it passes over.
 */
function ignoreCutConnections(source: string): string {
  const messages = CUT_CONNECTIONS.map((message) => `\t${JSON.stringify(message)},\n`);
  return insertAfter(IGNORED_MESSAGES, messages.join(""), source, () => true);
}

function insertAfter(
  mark: string,
  inserted: string,
  source: string,
  isKnown: (rest: string) => boolean,
): string {
  const [before, after, ...more] = source.split(mark);
  if (before === undefined || after === undefined || more.length > 0 || !isKnown(after)) {
    throw new Refusal(
      `the Vitest plugin is not as scripts/build/plugin-patches.ts expects it at "${mark.trim()}": ` +
        "see whether the patch is still needed, and remove or renew it",
    );
  }
  return before + mark + inserted + after;
}

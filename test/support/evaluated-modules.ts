// Runs before each test file. The tests' module runner asks Node about each `import()`, also of a
// module that is there, and gives all who ask meanwhile one promise: of two contexts, as of a test
// and a batch of a queue, one would go on in the other's place, where it may not use its own
// messages and responses. What is there is returned at once, and what jobs load on first use is
// there from the beginning.
import "@actions/expressions";
import "croner";
import "yaml";

import "../../src/domain/actions/runs/evaluate-groups.ts";
import "../../src/domain/actions/runs/start-runs.ts";
import "../../src/domain/exchange/imports/advance-import.ts";
import "../../src/domain/exchange/imports/open-export.ts";
import "../../src/domain/exchange/imports/sync-parts.ts";
import "../../src/domain/exchange/mirrors/pull/sync-pull-mirror.ts";
import "../../src/domain/exchange/mirrors/push/sync-push-mirror.ts";
import "../../src/domain/issues/notifications/notification-mail.ts";
import "../../src/domain/operations/expiries/end-repositories.ts";
import "../../src/forges/open-forge.ts";

interface ModuleNode {
  readonly evaluated: boolean;
}

interface ModuleRunner {
  readonly evaluatedModules: { getModuleByUrl(url: string): ModuleNode | undefined };
  cachedModule: (url: string, importer?: string) => Promise<ModuleNode>;
}

const { moduleRunner } = Reflect.get(globalThis, "__vitest_mocker__") as {
  moduleRunner: ModuleRunner;
};

// All files of an isolate share the runner, whose class has the method.
if (!Object.hasOwn(moduleRunner, "cachedModule")) {
  const ask = moduleRunner.cachedModule.bind(moduleRunner);
  moduleRunner.cachedModule = (url, importer) => {
    const known = moduleRunner.evaluatedModules.getModuleByUrl(url);
    return known?.evaluated ? Promise.resolve(known) : ask(url, importer);
  };
}

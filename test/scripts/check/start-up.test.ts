import { expect, it } from "vitest";

import { startUpBytes } from "../../../scripts/check/start-up.ts";

it("counts what the entry point imports, and not what is imported on first use", () => {
  const imports = (...list: [string, string][]) => ({
    imports: list.map(([path, kind]) => ({ path, kind })),
  });
  const inputs = {
    "worker.ts": imports(["app.ts", "import-statement"], ["lazy.ts", "dynamic-import"]),
    "app.ts": imports(["worker.ts", "import-statement"], ["both.ts", "require-call"]),
    "lazy.ts": imports(["both.ts", "import-statement"], ["rest.ts", "import-statement"]),
    "both.ts": imports(),
    "rest.ts": imports(),
  };
  const sizes = { "worker.ts": 1, "app.ts": 2, "lazy.ts": 4, "both.ts": 8, "rest.ts": 16 };
  const ofEach = Object.entries(sizes).map(([name, bytesInOutput]) => [name, { bytesInOutput }]);

  const outputs = {
    "worker.js": { entryPoint: "worker.ts", inputs: Object.fromEntries(ofEach) },
    "worker.js.map": { inputs: {} },
  };

  expect(startUpBytes({ inputs, outputs })).toBe(11);
});

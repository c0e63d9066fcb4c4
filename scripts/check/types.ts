import { existsSync } from "node:fs";

import { inProject } from "../project.ts";
import { type Check, runCheckTool, toResult } from "./check.ts";

// Each project has its own globals: the Worker, Node, the engine, which may use neither's, and the
// browser.
const projects = [
  "tsconfig.json",
  "scripts/tsconfig.json",
  "src/git/tsconfig.json",
  "src/web/pages/scripts/tsconfig.json",
  "test/git/tsconfig.json",
];

export const types: Check = {
  name: "types",
  run: async () => {
    const complaints: string[] = [];
    for (const project of projects.filter((path) => existsSync(inProject(path)))) {
      const buildInfo = `node_modules/.cache/tsbuildinfo/${project.replaceAll("/", "-")}`;
      // One thread uses less time and buildInfo than several on the two cores of a CI machine.
      const args = ["-p", project, "--noEmit", "--singleThreaded"];
      const { isOk, detail } = await runCheckTool("tsc", [
        ...args,
        "--incremental",
        "--tsBuildInfoFile",
        buildInfo,
      ]);
      if (!isOk) complaints.push(`${project}:\n${detail}`);
    }
    return toResult(complaints);
  },
};

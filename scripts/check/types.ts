import { existsSync } from "node:fs";

import { inProject } from "../project.ts";
import { type Check, judge, verdictOf } from "./check.ts";

// Each is a world of its own: the Worker, Node, and the engine, which may name neither.
const projects = [
  "tsconfig.json",
  "scripts/tsconfig.json",
  "src/git/tsconfig.json",
  "test/git/tsconfig.json",
];

export const types: Check = {
  name: "types",
  run: async () => {
    const complaints: string[] = [];
    for (const project of projects.filter((path) => existsSync(inProject(path)))) {
      const memory = `node_modules/.cache/tsbuildinfo/${project.replaceAll("/", "-")}`;
      // One thread takes less time and memory than several on the two cores of a CI machine.
      const args = ["-p", project, "--noEmit", "--singleThreaded"];
      const { isOk, detail } = await judge("tsc", [
        ...args,
        "--incremental",
        "--tsBuildInfoFile",
        memory,
      ]);
      if (!isOk) complaints.push(`${project}:\n${detail}`);
    }
    return verdictOf(complaints);
  },
};

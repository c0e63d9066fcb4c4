import type { TestProject } from "vitest/node";

import { startGitea } from "./gitea.ts";
import { makeGiteaSample } from "./gitea-sample.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A stand-in for Gitea and Gogs on this machine, which has the sample project. */
    gitea: string;
  }
}

/** Starts the stand-in for tests in the Worker. */
export default async function setup(project: TestProject): Promise<() => void> {
  const { url, close } = await startGitea(makeGiteaSample());
  project.provide("gitea", url);
  return close;
}

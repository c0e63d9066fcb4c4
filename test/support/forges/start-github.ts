import type { TestProject } from "vitest/node";

import { startGitHub } from "./github.ts";
import { makeGitHubSample } from "./github-sample.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A stand-in for GitHub on this machine, which has the sample project. */
    github: string;
  }
}

/** Starts the stand-in for tests in the Worker. */
export default async function setup(project: TestProject): Promise<() => void> {
  const { url, close } = await startGitHub(makeGitHubSample());
  project.provide("github", url);
  return close;
}

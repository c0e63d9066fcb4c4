import type { TestProject } from "vitest/node";

import { publicProject, sampleProject, visibleProject } from "./gitlab-sample.ts";
import { startForge } from "./gitlab.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The origin of a stand-in for GitLab, with the sample projects. */
    gitlab: string;
  }
}

/** Starts a stand-in for GitLab, outside the Worker. */
export default async function setup(project: TestProject): Promise<() => void> {
  const server = await startForge((origin) => [
    sampleProject(origin),
    publicProject(origin),
    visibleProject(origin),
  ]);
  project.provide("gitlab", server.origin);
  return () => server.close();
}

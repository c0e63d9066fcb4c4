import { openSide } from "../peer/side.ts";
import { openStartedService } from "../support/started-service.ts";
import { type EdgeForge, observe } from "./forge.ts";

const FORKS = "forks";

/** Starts the service as `npm start` does, with its state in `data`. */
export async function openEdgeforge(data: string): Promise<EdgeForge> {
  const service = await openStartedService(data);
  const origin = new URL(service.origin);
  const administrator = { name: "root", password: service.password };
  const side = await openSide({ name: "Edgeforge", origin, pid: service.pid, administrator });
  await side.send("POST", "/orgs", { username: FORKS });
  const credentials = Buffer.from(`root:${side.token}`).toString("base64");
  return {
    ...observe(service.pid),
    name: side.name,
    create: async (name, branch) => {
      await side.send("POST", "/user/repos", { name, default_branch: branch });
      return new URL(`/root/${name}.git`, origin).href;
    },
    writeOptions: ["-c", `http.extraHeader=Authorization: Basic ${credentials}`],
    // A repository that was pushed in one push is one pack already.
    compact: async () => {},
    fork: async (name, target) => {
      await side.send("POST", `/repos/root/${name}/forks`, { organization: FORKS, name: target });
    },
    close: async () => {
      side.close();
      await service.close();
    },
  };
}

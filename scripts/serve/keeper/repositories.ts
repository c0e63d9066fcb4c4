import type Keeper from "./worker.ts";

/**
 * The binding of repositories' objects in an entry process: their methods are called in the keeper.
 */
export default function openRepositories({ keeper }: { keeper: Service<Keeper> }) {
  return {
    getByName: (name: string): object =>
      new Proxy(
        {},
        {
          get: (_, method) =>
            // A stub is no promise.
            typeof method === "string" && method !== "then"
              ? (...args: unknown[]) => keeper.callRepository(name, method, args)
              : undefined,
        },
      ),
  };
}

import type { Workload } from "./inputs/read.ts";
import { hash } from "./simulator/draws.ts";
import { Zipf } from "./simulator/zipf.ts";

/** What decides the database of a repository's own data. */
export const SHARD_KEYS = ["repository", "owner", "network"] as const;
type ShardKey = (typeof SHARD_KEYS)[number];

/** How data is spread over databases. */
export type Layout = {
  /** Databases of accounts and of the directory of repositories, by the name of the owner. */
  directories: number;
  /** Databases of repositories' own data; 0 keeps it in the directories' databases. */
  shards: number;
  key: ShardKey;
  /** Whether reads are answered by replicas. */
  hasReplicas: boolean;
};

export const TODAY: Layout = { directories: 1, shards: 0, key: "repository", hasReplicas: true };

export function describeLayout({ directories, shards, key, hasReplicas }: Layout): string {
  const first = directories === 1 ? "1 first database" : `${directories} first databases`;
  const own =
    shards === 0 ? "no shards" : `${shards} ${shards === 1 ? "shard" : "shards"} by ${key}`;
  return `${first}, ${own}${hasReplicas ? "" : ", no replicas"}`;
}

/** Who owns a repository and which network it belongs to: the same for each run and each layout. */
export class Relations {
  readonly repositories: Zipf;
  readonly #owners: Zipf;
  readonly #forkShare: number;

  constructor({ repositories, users, popularity }: Workload) {
    this.repositories = new Zipf(repositories, popularity.repositories);
    this.#owners = new Zipf(users, popularity.owners);
    this.#forkShare = popularity.forkShare;
  }

  /** The rank of the owner: few own many repositories. */
  ownerOf(repository: number): number {
    return this.#owners.at(hash(repository, 11) / 2 ** 32);
  }

  /** The repository that began the network: forks are mostly of popular ones. */
  networkOf(repository: number): number {
    if (hash(repository, 12) / 2 ** 32 >= this.#forkShare) return repository;
    return this.repositories.at(hash(repository, 13) / 2 ** 32);
  }

  /** The number of a repository's shard. */
  shardOf(repository: number, { shards, key }: Layout): number {
    const value =
      key === "repository"
        ? repository
        : key === "owner"
          ? this.ownerOf(repository)
          : this.networkOf(repository);
    return hash(value, 14) % shards;
  }

  directoryOf(owner: number, { directories }: Layout): number {
    return directories === 1 ? 0 : hash(owner, 15) % directories;
  }
}

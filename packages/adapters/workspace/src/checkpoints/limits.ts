/** Limits on the cost of checkpoints. */
export interface CheckpointLimits {
  /** A larger file is not covered. */
  readonly maxFileBytes: number;
  /** With more files there are no checkpoints. */
  readonly maxFiles: number;
  /** Time for one checkpoint. */
  readonly budgetMs: number;
  /** Time for a process's first checkpoint, which may have to read everything. */
  readonly firstBudgetMs: number;
  /** Size of the store, in bytes. */
  readonly quota: number;
}

export const defaultLimits: CheckpointLimits = {
  maxFileBytes: 10 * 1024 * 1024,
  maxFiles: 200_000,
  budgetMs: 2_000,
  firstBudgetMs: 20_000,
  quota: 2 * 1024 * 1024 * 1024,
};

"""The engines that ask a language model for graph, plan and answer: ours, and as the paper prints it."""

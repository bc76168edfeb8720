"""Attribution by gradients: the norm of a derivative for every pair of tokens.

A recorded pass comes in, norms and their errors go out. `jvp` pushes many directions at once,
`chain` through all layers, with `jacobians` for the part of a layer that acts on each token alone;
`check` compares the result with the model's own backward pass; `jacobian_norms` adds up norms.
"""

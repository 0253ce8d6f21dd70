# ruff: noqa: E501  One call is one line.
"""Calls of SciPy and Matplotlib with arrays that are not NumPy's: one expression a row.

The names in them are those of `arguments`. `x`, `y` and `t` are vectors of 16 numbers (`t` rises),
as are `p` (positive), `c` (complex), `i`, `j`, `k` (integers) and `q` (truth values); `m`, `s` and
`d` matrices of 4 × 4 (`s` symmetric and positive definite, `d` distances), `b` a vector of 4, `g` a
matrix of 16 × 3, `z` a grid of 12 × 12, `u` and `v` vectors of 3. `a` makes an array of values.
Everything else is a module of SciPy or Matplotlib, or `np`.

Not here are functions that ask for `numpy.ndarray` by its class, such as `scipy.sparse.linalg.cg` of a
matrix and Matplotlib's colours: they take no peer's array, either.
"""

import importlib

import numpy as np

MODULES = (
    "cluster.hierarchy cluster.vq constants datasets fft integrate interpolate linalg ndimage optimize signal sparse "
    "sparse.csgraph sparse.linalg spatial spatial.distance special stats"
)

OPTIMIZE = """
optimize.minimize(lambda w: (float(((w - x) ** 2).sum()), a(2 * (w - np.asarray(x)))), y, jac=True, method="L-BFGS-B").x
optimize.minimize(lambda w: (float(((w - x) ** 2).sum()), a(2 * (w - np.asarray(x)))), y, jac=True, method="CG").x
optimize.minimize(lambda w: (float(((w - x) ** 2).sum()), a(2 * (w - np.asarray(x)))), y, jac=True, method="BFGS").x
optimize.minimize(lambda w: (float(((w - x) ** 2).sum()), a(2 * (w - np.asarray(x)))), y, jac=True, method="TNC").x
optimize.minimize(lambda w: (float(((w - x) ** 2).sum()), a(2 * (w - np.asarray(x)))), y, jac=True, method="SLSQP").x
optimize.minimize(lambda w: a(np.asarray(((w - u) ** 2).sum())), v, method="L-BFGS-B").x
optimize.minimize(lambda w: a(np.asarray(((w - u) ** 2).sum())), v, method="Nelder-Mead").x
optimize.minimize(lambda w: float(((w - u) ** 2).sum()), v, method="Powell").x
optimize.minimize(lambda w: float(((w - u) ** 2).sum()), v, method="COBYLA").x
optimize.minimize(lambda w: float(((w - u) ** 2).sum()), v, jac=lambda w: a(2 * (w - np.asarray(u))), method="trust-constr").x
optimize.minimize(lambda w: float(((w - u) ** 2).sum()), v, jac=lambda w: a(2 * (w - np.asarray(u))), hess=lambda w: a(2 * np.eye(3)), method="Newton-CG").x
optimize.minimize(lambda w: float(((w - u) ** 2).sum()), v, jac=lambda w: a(2 * (w - np.asarray(u))), hess=lambda w: a(2 * np.eye(3)), method="trust-exact").x
optimize.minimize(lambda w: float(((w - u) ** 2).sum()), v, jac=lambda w: a(2 * (w - np.asarray(u))), hess=lambda w: a(2 * np.eye(3)), method="dogleg").x
optimize.minimize(lambda w: float(((w - u) ** 2).sum()), v, bounds=optimize.Bounds(a([-1.0] * 3), a([1.0] * 3))).x
optimize.minimize(lambda w: float(((w - u) ** 2).sum()), v, constraints=optimize.LinearConstraint(a([[1.0, 1.0, 1.0]]), 0, 1)).x
optimize.minimize_scalar(lambda w: a((w - 1.0) ** 2)).x
optimize.root(lambda w: a(np.asarray(m) @ w - np.asarray(b)), b).x
optimize.root(lambda w: a(np.asarray(m) @ w - np.asarray(b)), b, jac=lambda w: m, method="hybr").x
optimize.root(lambda w: a(np.asarray(m) @ w - np.asarray(b)), b, jac=lambda w: m, method="lm").x
optimize.root_scalar(lambda w: a(w**3 - 2.0), bracket=(0, 2)).root
optimize.brentq(lambda w: a(w**3 - 2.0), 0, 2)
optimize.newton(lambda w: a(np.asarray(w) ** 3 - 2.0), 1.0)
optimize.newton(lambda w: np.asarray(w) ** 3 - 2.0, p)
optimize.fsolve(lambda w: a(np.asarray(m) @ w - np.asarray(b)), b)
optimize.least_squares(lambda w: a(np.asarray(g) @ w - np.asarray(x)), u).x
optimize.least_squares(lambda w: a(np.asarray(g) @ w - np.asarray(x)), u, jac=lambda w: g, method="lm").x
optimize.least_squares(lambda w: a(np.asarray(g) @ w - np.asarray(x)), u, jac=lambda w: g, bounds=(a([-5.0] * 3), a([5.0] * 3))).x
optimize.leastsq(lambda w: a(np.asarray(g) @ w - np.asarray(x)), u)[0]
optimize.curve_fit(lambda t, p0, p1: p0 * t + p1, t, x)[0]
optimize.curve_fit(lambda t, p0, p1: p0 * t + p1, t, x, p0=a([1.0, 0.0]), sigma=p)[0]
optimize.curve_fit(lambda t, p0, p1: p0 * t + p1, t, x, jac=lambda t, p0, p1: np.stack([t, np.ones_like(t)], 1))[0]
optimize.linprog(p[:4], A_ub=m, b_ub=b + 20).x
optimize.linprog(p[:4], A_eq=s, b_eq=s @ p[:4]).x
optimize.milp(p[:4], constraints=optimize.LinearConstraint(m, ub=b + 20)).x
optimize.nnls(g, p)[0]
optimize.lsq_linear(g, x).x
optimize.lsq_linear(g, x, bounds=(a([-0.1] * 3), a([0.1] * 3))).x
optimize.linear_sum_assignment(s)[1]
optimize.approx_fprime(u, lambda w: float((w**2).sum()), 1e-6)
optimize.approx_fprime(u, lambda w: a(np.asarray((w**2).sum())), 1e-6)
optimize.check_grad(lambda w: float((w**2).sum()), lambda w: a(2 * w), u)
optimize.line_search(lambda w: float((w**2).sum()), lambda w: 2 * w, u, -2 * u)[0]
optimize.fmin(lambda w: float(((w - u) ** 2).sum()), v, disp=False)
optimize.fmin_bfgs(lambda w: float(((w - u) ** 2).sum()), v, disp=False)
optimize.fmin_l_bfgs_b(lambda w: float(((w - u) ** 2).sum()), v, fprime=lambda w: a(2 * (w - np.asarray(u))))[0]
optimize.fixed_point(lambda w: a(0.5 * np.asarray(w) + 1.0), b)
optimize.differential_evolution(lambda w: float((w**2).sum()), [(-1, 1)] * 2, rng=0, maxiter=3).x
optimize.dual_annealing(lambda w: a(np.asarray((w**2).sum())), [(-1, 1)] * 2, rng=0, maxiter=3).x
optimize.basinhopping(lambda w: float(((w - u) ** 2).sum()), v, niter=1, rng=0).x
optimize.brute(lambda w: float((w**2).sum()), ((-1, 1), (-1, 1)), Ns=3)
optimize.isotonic_regression(x).x
optimize.quadratic_assignment(s, m)["col_ind"]
optimize.rosen(x)
optimize.rosen_der(x)
optimize.rosen_hess(b)
"""

LINALG = """
linalg.solve(m, b)
linalg.solve(s, b, assume_a="pos")
linalg.solve(m, g[:4])
linalg.solve_triangular(np.tril(m), b, lower=True)
linalg.solve_banded((0, 0), p[None, :4], b)
linalg.solveh_banded(p[None, :4], b)
linalg.solve_toeplitz(p[:4], b)
linalg.solve_circulant(p[:4] * a([4.0, 1, 1, 1]), b)
linalg.solve_sylvester(m, s, m)
linalg.solve_continuous_lyapunov(m, s)
linalg.solve_discrete_lyapunov(m * 0.1, s)
linalg.solve_continuous_are(m, s, s, s)
linalg.inv(m)
linalg.pinv(g)
linalg.det(m)
linalg.norm(m)
linalg.norm(x, 1)
linalg.norm(m, axis=0)
linalg.lstsq(g, x)[0]
linalg.svd(m)[1]
linalg.svdvals(g)
linalg.qr(m)[1]
linalg.qr(m, pivoting=True)[2]
linalg.rq(m)[0]
linalg.lu(m)[2]
linalg.lu_factor(m)[0]
linalg.lu_solve(linalg.lu_factor(m), b)
linalg.cholesky(s)
linalg.cho_factor(s)[0][0, 0]
linalg.cho_solve(linalg.cho_factor(s), b)
linalg.eig(s)[0].real.sum()
linalg.eigh(s)[0]
linalg.eigh(s, s + s)[0]
linalg.eigvals(s).real.sum()
linalg.eigvalsh(s)
linalg.eigh_tridiagonal(p, x[:15])[0]
linalg.eig_banded(p[None])[0]
linalg.schur(s)[0].diagonal().sum()
linalg.hessenberg(m)
linalg.ldl(s)[1]
linalg.polar(m)[0]
linalg.expm(m * 0.1)
linalg.logm(s)
linalg.sqrtm(s)
linalg.funm(s, np.exp)
linalg.sinm(s)
linalg.cosm(m * 0.1)
linalg.tanhm(m * 0.1)
linalg.signm(s)
linalg.expm_frechet(m * 0.1, s)[1]
linalg.fractional_matrix_power(s, 0.5)
linalg.block_diag(m, s)
linalg.toeplitz(x)
linalg.circulant(x)
linalg.hankel(x)
linalg.companion(p)
linalg.leslie(p[:4], p[:3])
linalg.fiedler(b)
linalg.khatri_rao(m, s)
linalg.null_space(g.T)[0] ** 2
linalg.orth(m) ** 2
linalg.subspace_angles(g, g[:, :2])
linalg.issymmetric(s)
linalg.ishermitian(s)
linalg.bandwidth(m)
linalg.convolution_matrix(b, 5)
linalg.matmul_toeplitz(p, x)
linalg.orthogonal_procrustes(m, s)[1]
linalg.matrix_balance(m)[0]
linalg.qz(m, s)[0] ** 2
linalg.cossin(linalg.qr(np.asarray(m))[0], 2, 2)[1]
linalg.diagsvd(p[:3], 3, 4)
linalg.blas.ddot(x, y)
linalg.blas.dgemm(1.0, m, s)
linalg.lapack.dgesv(m, b)[2]
"""

SPARSE = """
csr @ b
csr @ m
csr.dot(b)
csr.T @ b
b @ csr
csr * 2
csr.multiply(m).toarray()
csr.multiply(b).toarray()
csr + csr.multiply(m)
(m @ csr)
sparse.csr_matrix(m).toarray()
sparse.csr_array(m).toarray()
sparse.csc_array(m).toarray()
sparse.coo_array(m).toarray()
sparse.bsr_array(m).toarray()
sparse.lil_array(m).toarray()
sparse.dok_array(m).toarray()
sparse.dia_array(m).toarray()
sparse.coo_matrix((p[:3], (i[:3], j[:3])), shape=(20, 20)).toarray()
sparse.csr_array((p[:3], (i[:3], j[:3])), shape=(20, 20)).toarray()
sparse.csr_array((p[:3], i[:3], a([0, 1, 2, 3], "int32")), shape=(3, 20)).toarray()
sparse.dia_array((a([[1.0, 2.0, 3.0, 4.0]]), a([0], "int64")), shape=(4, 4)).toarray()
sparse.diags_array([p[:4]], offsets=[0]).toarray()
sparse.diags([p[:4], p[:3]], [0, 1]).toarray()
sparse.kron(csr, m).toarray()
sparse.block_diag([csr, m]).toarray()
sparse.hstack([csr, sparse.csr_array(m)]).toarray()
sparse.vstack([csr, sparse.csr_array(m)]).toarray()
sparse.tril(m).toarray()
sparse.triu(m).toarray()
sparse.find(m)[2]
sparse.issparse(m)
sparse.spdiags(p[None, :4], a([0], "int64"), 4, 4).toarray()
csr[a([0, 2], "int64")].toarray()
csr[a([True, False, True, False])].toarray()
csr[a([0, 1], "int64"), a([1, 0], "int64")]
csr.power(2).toarray()
(csr > 0).toarray()
sparse.linalg.spsolve(csr.tocsc(), b)
sparse.linalg.spsolve_triangular(sparse.tril(csr).tocsr(), b)
sparse.linalg.cg(sparse.csr_array(s), b)[0]
sparse.linalg.cg(sparse.linalg.LinearOperator((4, 4), matvec=lambda w: a(np.asarray(s) @ w), dtype=np.float64), b)[0]
sparse.linalg.lsqr(csr, b)[0]
sparse.linalg.lsmr(csr, b)[0]
sparse.linalg.lobpcg(z @ z.T, z[:, :2], maxiter=5)[0]
sparse.linalg.expm_multiply(m, b)
sparse.linalg.expm(m)
sparse.linalg.norm(csr)
sparse.csgraph.dijkstra(d, indices=0)
sparse.csgraph.shortest_path(d)
sparse.csgraph.floyd_warshall(d)
sparse.csgraph.bellman_ford(d)
sparse.csgraph.minimum_spanning_tree(d).toarray()
sparse.csgraph.connected_components(d)[1]
sparse.csgraph.laplacian(d)
sparse.csgraph.breadth_first_order(d, 0)[0]
sparse.csgraph.csgraph_from_dense(d).toarray()
"""

SIGNAL = """
signal.convolve(x, b)
signal.convolve(x, b, method="fft")
signal.fftconvolve(x, y)
signal.oaconvolve(x, y)
signal.correlate(x, y)
signal.convolve2d(z, m)
signal.correlate2d(z, m)
signal.sepfir2d(z, u, v)
signal.lfilter(b, p[:4], x)
signal.lfilter(b, 1.0, x, zi=u)[0]
signal.lfilter_zi(b, p[:4])
signal.lfiltic(b, p[:4], u)
signal.filtfilt(p[:2], p[:2] * a([4.0, 1.0]), x, padlen=3)
signal.sosfilt(sos, x)
signal.sosfiltfilt(sos, x, padlen=3)
signal.savgol_filter(x, 5, 2)
signal.medfilt(x, 3)
signal.medfilt2d(z, 3)
signal.wiener(x, 3)
signal.order_filter(x, a([1.0, 1.0, 1.0]), 1)
signal.detrend(x)
signal.hilbert(x)
signal.hilbert2(z)
signal.decimate(np.tile(x, 4), 2)
signal.resample(x, 8)
signal.resample_poly(x, 2, 3)
signal.upfirdn(b, x, 2)
signal.find_peaks(x)[0]
signal.find_peaks_cwt(x, a([1.0, 2.0]))
signal.peak_prominences(x, signal.find_peaks(x)[0])[0]
signal.peak_widths(x, signal.find_peaks(x)[0])[0]
signal.argrelextrema(x, np.greater)[0]
signal.argrelmax(x)[0]
signal.periodogram(x)[1]
signal.welch(x, nperseg=8)[1]
signal.csd(x, y, nperseg=8)[1]
signal.coherence(x, y, nperseg=8)[1]
signal.spectrogram(x, nperseg=8)[2]
signal.stft(x, nperseg=8)[2]
signal.istft(signal.stft(x, nperseg=8)[2])[1]
signal.lombscargle(t, x, p)
signal.vectorstrength(t, 2.0)[0]
signal.freqz(b, p[:4])[1]
signal.freqz(b, worN=t)[1]
signal.freqs(b, p[:4], t)[1]
signal.sosfreqz(sos, 8)[1]
signal.group_delay((b, p[:4]), 8)[1]
signal.tf2zpk(b, p[:4])[2]
signal.zpk2tf(b, b, 1.0)[0]
signal.tf2sos(p[:3], p[:3])
signal.sos2tf(sos)[0]
signal.tf2ss(p[:3], p[:3])[0]
signal.ss2tf(m, g[:4, :1], g[:1, :1] * a([[1.0]]) @ a([[1.0, 0, 0, 0]]), a([[0.0]]))[0]
signal.residue(u, p[:4])[0]
signal.invres(u, p[:3], a([]))[0]
signal.bilinear(u, p[:3])[0]
signal.cont2discrete((m, g[:4, :1], m[:1], a([[0.0]])), 0.1)[0]
signal.step((u, p[:4]), T=t * 0 + np.linspace(0, 1, 16))[1]
signal.impulse((u, p[:4]), T=t * 0 + np.linspace(0, 1, 16))[1]
signal.lsim((u, p[:4]), x, t * 0 + np.linspace(0, 1, 16))[1]
signal.dlti(u, p[:4]).impulse(n=4)[1][0]
signal.firwin2(5, a([0.0, 0.5, 1.0]), a([0.0, 1.0, 1.0]))
signal.firls(5, a([0.0, 0.4, 0.6, 1.0]), a([1.0, 1.0, 0.0, 0.0]))
signal.remez(7, a([0.0, 0.2, 0.3, 0.5]), a([1.0, 0.0]))
signal.minimum_phase(p)
signal.place_poles(m, g[:4, :2], a([-1.0, -2.0, -3.0, -4.0])).computed_poles
signal.cspline1d(x)
signal.qspline1d(x)
signal.cspline2d(z)
signal.gauss_spline(x, 2)
signal.unit_impulse(4)
signal.sawtooth(t)
signal.square(t)
signal.chirp(t, 1.0, 1.0, 2.0)
signal.gausspulse(t)
signal.sweep_poly(t, p[:3])
signal.czt(x)
signal.zoom_fft(x, [0.1, 0.4])
signal.envelope(x)
signal.deconvolve(np.convolve(x, b + 3), b + 3)[0]
signal.choose_conv_method(x, y)
signal.unique_roots(b)[0]
"""

STATS = """
stats.describe(x).variance
stats.zscore(x)
stats.zmap(x, y)
stats.gzscore(p)
stats.skew(x)
stats.kurtosis(x)
stats.moment(x, 3)
stats.mode(k).mode
stats.gmean(p)
stats.hmean(p)
stats.pmean(p, 2)
stats.sem(x)
stats.iqr(x)
stats.trim_mean(x, 0.1)
stats.tmean(x, (-1, 1))
stats.tvar(x)
stats.variation(x)
stats.median_abs_deviation(x)
stats.entropy(p)
stats.differential_entropy(x)
stats.rankdata(x)
stats.percentileofscore(x, 0.2)
stats.scoreatpercentile(x, 50)
stats.pearsonr(x, y).statistic
stats.spearmanr(x, y).statistic
stats.kendalltau(x, y).statistic
stats.weightedtau(x, y).statistic
stats.somersd(k, k).statistic
stats.pointbiserialr(q, x).statistic
stats.linregress(x, y).slope
stats.theilslopes(x, y)[0]
stats.siegelslopes(x, y)[0]
stats.ttest_ind(x, y).pvalue
stats.ttest_rel(x, y).pvalue
stats.ttest_1samp(x, 0.1).pvalue
stats.mannwhitneyu(x, y).pvalue
stats.wilcoxon(x, y).pvalue
stats.kruskal(x, y).pvalue
stats.friedmanchisquare(x, y, p).pvalue
stats.ks_2samp(x, y).pvalue
stats.kstest(x, "norm").pvalue
stats.cramervonmises(x, "norm").pvalue
stats.cramervonmises_2samp(x, y).pvalue
stats.epps_singleton_2samp(x, y).pvalue
stats.anderson(x).statistic
stats.anderson_ksamp([x, y], method=stats.PermutationMethod(n_resamples=9, rng=0)).statistic
stats.shapiro(x).statistic
stats.normaltest(np.tile(x, 2)).pvalue
stats.jarque_bera(x).pvalue
stats.skewtest(x).pvalue
stats.kurtosistest(np.tile(x, 2)).pvalue
stats.f_oneway(x, y).pvalue
stats.alexandergovern(x, y).pvalue
stats.levene(x, y).pvalue
stats.bartlett(x, y).pvalue
stats.fligner(x, y).pvalue
stats.ansari(x, y).pvalue
stats.mood(x, y).pvalue
stats.median_test(x, y).pvalue
stats.brunnermunzel(x, y).pvalue
stats.chisquare(p, p * 0 + p.mean()).pvalue
stats.power_divergence(p).pvalue
stats.chi2_contingency(s + 4).pvalue
stats.fisher_exact(a([[3, 2], [1, 4]], "int64")).pvalue
stats.barnard_exact(a([[3, 2], [1, 4]], "int64")).pvalue
stats.binomtest(3, 10).pvalue
stats.tukey_hsd(x, y).pvalue
stats.dunnett(x, control=y, rng=0).statistic
stats.bootstrap((x,), np.mean, n_resamples=9, rng=0, method="percentile").confidence_interval.low
stats.permutation_test((x, y), lambda x, y, axis: np.mean(x, axis) - np.mean(y, axis), n_resamples=9, rng=0, vectorized=True).statistic
stats.monte_carlo_test(x, np.random.default_rng(0).normal, np.mean, n_resamples=9).statistic
stats.false_discovery_control(a([0.1, 0.2, 0.3]))
stats.combine_pvalues(a([0.1, 0.2, 0.3])).pvalue
stats.boxcox(p)[0]
stats.boxcox_normmax(p)
stats.boxcox_llf(0.5, p)
stats.yeojohnson(x)[0]
stats.yeojohnson(x, 0.5)
stats.probplot(x, fit=False)[0]
stats.ppcc_max(x)
stats.sigmaclip(x)[0]
stats.trimboth(x, 0.1)
stats.trim1(x, 0.1)
stats.mstats.winsorize(x, 0.1)
stats.cumfreq(x, 4)[0]
stats.relfreq(x, 4)[0]
stats.binned_statistic(x, y, bins=4)[0]
stats.binned_statistic_2d(x, y, p, bins=2)[0]
stats.binned_statistic_dd(g, x, bins=2)[0]
stats.ecdf(x).cdf.evaluate(0.1)
stats.gaussian_kde(x)(y)
stats.gaussian_kde(g.T, weights=p)(g.T)
stats.norm.pdf(x)
stats.norm.cdf(x, loc=y, scale=p)
stats.norm.ppf(p / (p.max() + 1))
stats.norm.fit(x)[0]
stats.norm.rvs(loc=x, scale=p, random_state=0)
stats.expon.logpdf(p)
stats.gamma.fit(p, floc=0)[0]
stats.beta.cdf(p / 9, p, p)
stats.poisson.pmf(k, p)
stats.binom.pmf(k, 9, 0.5)
stats.t.sf(x, p)
stats.multivariate_normal(u, np.eye(3)).pdf(g)
stats.multivariate_normal.logpdf(g, mean=u, cov=s[:3, :3])
stats.multivariate_normal.rvs(u, s[:3, :3], random_state=0)
stats.dirichlet(p[:3]).mean()
stats.wishart.logpdf(s, 5, s)
stats.multinomial(9, p[:3] / p[:3].sum()).mean()
stats.rv_histogram(np.histogram(x)).mean()
stats.rv_discrete(values=(k[:3] + a([0, 10, 20], "int64"), p[:3] / p[:3].sum())).mean()
stats.wasserstein_distance(x, y)
stats.energy_distance(x, y)
stats.circmean(x)
stats.circstd(x)
stats.circvar(x)
stats.bayes_mvs(x)[0].statistic
stats.quantile_test(x, q=0.1).pvalue
stats.quantile(x, 0.5)
stats.page_trend_test(z).pvalue
stats.contingency.crosstab(k, k).count
stats.contingency.association(a([[3, 2], [1, 4]], "int64"))
stats.directional_stats(g).mean_direction
stats.obrientransform(x, y)
stats.qmc.discrepancy(a(np.clip(np.abs(np.asarray(g)) / 9, 0, 1)))
stats.qmc.scale(a(np.clip(np.abs(np.asarray(g)) / 9, 0, 1)), a([0.0] * 3), a([2.0] * 3))
stats.expectile(x, 0.3)
stats.lmoment(x)
"""

INTERPOLATE = """
interpolate.interp1d(t, x)(t[:4] + 0.001)
interpolate.interp1d(t, x, kind="cubic")(t[:4] + 0.001)
interpolate.interp1d(t, g, axis=0)(t[:4])
interpolate.CubicSpline(t, x)(t + 0.001)
interpolate.CubicSpline(t, g)(t[:4], 1)
interpolate.PchipInterpolator(t, x)(t)
interpolate.Akima1DInterpolator(t, x)(t)
interpolate.CubicHermiteSpline(t, x, y)(t)
interpolate.BarycentricInterpolator(t[:5], x[:5])(t[:3])
interpolate.KroghInterpolator(t[:5], x[:5])(t[:3])
interpolate.make_interp_spline(t, x)(t)
interpolate.make_lsq_spline(t, x, a(np.r_[[np.asarray(t)[0]] * 4, [np.asarray(t)[-1]] * 4]))(t)
interpolate.make_smoothing_spline(t, x)(t)
interpolate.splrep(t, x)[1]
interpolate.splev(t, interpolate.splrep(t, x))
interpolate.splint(0, 1, interpolate.splrep(t, x))
interpolate.splprep([x, y], u=t, s=0)[0][1][0]
interpolate.UnivariateSpline(t, x)(t)
interpolate.InterpolatedUnivariateSpline(t, x)(t)
interpolate.LSQUnivariateSpline(t, x, t[5:7])(t)
interpolate.BSpline(a(np.arange(8.0)), b, 3)(t * 0 + 3.5)
interpolate.PPoly(m, a(np.arange(5.0)))(b + 1)
interpolate.BPoly(m, a(np.arange(5.0)))(b + 1)
interpolate.RegularGridInterpolator((t[:12], t[:12]), z)(g[:2, :2] * 0 + t[3])
interpolate.RectBivariateSpline(t[:12], t[:12], z)(t[:3], t[:3])
interpolate.SmoothBivariateSpline(g[:, 0], g[:, 1], x, kx=1, ky=1)(0.1, 0.1)
interpolate.bisplrep(g[:, 0], g[:, 1], x, kx=1, ky=1, full_output=1)[1]
interpolate.interpn((t[:12], t[:12]), z, g[:2, :2] * 0 + t[3])
interpolate.griddata(g[:, :2], x, g[:3, :2], method="linear")
interpolate.griddata(g[:, :2], x, g[:3, :2], method="nearest")
interpolate.griddata(g[:, :2], x, g[:3, :2], method="cubic")
interpolate.LinearNDInterpolator(g[:, :2], x)(g[:3, :2])
interpolate.NearestNDInterpolator(g, x)(g)
interpolate.CloughTocher2DInterpolator(g[:, :2], x)(g[:3, :2])
interpolate.RBFInterpolator(g, x)(g[:4])
interpolate.Rbf(g[:, 0], g[:, 1], x)(g[:4, 0], g[:4, 1])
interpolate.AAA(t, x)(t[:3])
interpolate.pade(p[:5], 2)[0].coef
interpolate.approximate_taylor_polynomial(np.sin, 0.0, 3, 0.5).coef
"""

INTEGRATE = """
integrate.trapezoid(x, t)
integrate.trapezoid(z)
integrate.simpson(x, x=t)
integrate.cumulative_trapezoid(x, t)
integrate.cumulative_simpson(x, x=t)
integrate.romb(x[:9])
integrate.quad(lambda w: a(w**2), 0, 1)[0]
integrate.quad(lambda w: a(np.asarray([w**2])).sum().item(), 0, 1)[0]
integrate.quad_vec(lambda w: a(np.asarray(u) * w), 0, 1)[0]
integrate.dblquad(lambda w, r: a(w * r), 0, 1, 0, 1)[0]
integrate.nquad(lambda w, r: a(w * r), [[0, 1], [0, 1]])[0]
integrate.fixed_quad(lambda w: a(np.asarray(w) ** 2), 0, 1)[0]
integrate.solve_ivp(lambda w, r: a(-np.asarray(r)), (0, 1), b).y[:, -1]
integrate.solve_ivp(lambda w, r: -r, (0, 1), b, t_eval=a(np.linspace(0, 1, 5))).y
integrate.solve_ivp(lambda w, r: a(np.asarray(m) @ r), (0, 1), b, method="BDF", jac=lambda w, r: m).y[:, -1]
integrate.solve_ivp(lambda w, r: a(np.asarray(m) @ r), (0, 1), b, method="Radau").y[:, -1]
integrate.solve_ivp(lambda w, r: a(np.asarray(m) @ r), (0, 1), b, method="LSODA").y[:, -1]
integrate.odeint(lambda r, w: a(-np.asarray(r)), b, np.linspace(0, 1, 5))
integrate.odeint(lambda r, w: -r, b, a(np.linspace(0, 1, 5)))
integrate.ode(lambda w, r: a(-np.asarray(r))).set_initial_value(b).integrate(1.0)
integrate.solve_bvp(lambda w, r: np.vstack([r[1], -r[0]]), lambda l, r: np.array([l[0], r[0] - 1]), a(np.linspace(0, 1, 5)), a(np.zeros((2, 5)))).y[0]
integrate.RK45(lambda w, r: a(-np.asarray(r)), 0, b, 1).y
integrate.cubature(lambda w: w.sum(-1), a([0.0, 0.0]), a([1.0, 1.0])).estimate
integrate.qmc_quad(lambda w: np.prod(w, axis=0), a([0.0, 0.0]), a([1.0, 1.0]), n_points=16, n_estimates=2, qrng=stats.qmc.Halton(2, rng=0)).integral
integrate.tanhsinh(lambda w: w**2, 0, 1).integral
"""

FFT = """
fft.fft(x)
fft.ifft(c)
fft.rfft(x)
fft.irfft(c)
fft.hfft(c)
fft.ihfft(x)
fft.fft2(z)
fft.ifft2(z)
fft.rfft2(z)
fft.irfft2(z)
fft.fftn(z)
fft.ifftn(z)
fft.rfftn(z)
fft.irfftn(z)
fft.dct(x)
fft.idct(x)
fft.dctn(z)
fft.idctn(z)
fft.dst(x)
fft.idst(x)
fft.dstn(z)
fft.fht(p, 0.1, 0.5)
fft.ifht(p, 0.1, 0.5)
fft.fftshift(x)
fft.ifftshift(x)
fft.fftfreq(8)
fft.fft(x, n=20, norm="ortho")
fft.rfft(z, axis=0)
"""

NDIMAGE = """
ndimage.gaussian_filter(z, 1)
ndimage.gaussian_filter1d(x, 1)
ndimage.gaussian_laplace(z, 1)
ndimage.gaussian_gradient_magnitude(z, 1)
ndimage.uniform_filter(z, 3)
ndimage.median_filter(z, 3)
ndimage.percentile_filter(z, 50, 3)
ndimage.rank_filter(z, 1, 3)
ndimage.maximum_filter(z, 3)
ndimage.minimum_filter(z, footprint=a(np.ones((3, 3)) > 0))
ndimage.sobel(z)
ndimage.prewitt(z)
ndimage.laplace(z)
ndimage.convolve(z, m)
ndimage.correlate(z, m)
ndimage.convolve1d(z, u)
ndimage.correlate1d(x, u)
ndimage.generic_filter(z, np.mean, 3)
ndimage.generic_gradient_magnitude(z, ndimage.sobel)
ndimage.fourier_gaussian(z, 1)
ndimage.fourier_shift(z, 1)
ndimage.spline_filter(z)
ndimage.map_coordinates(z, a([[1.5, 2.5], [3.0, 4.0]]))
ndimage.affine_transform(z, a([[1.0, 0.1], [0.0, 1.0]]), offset=a([0.5, 0.5]))
ndimage.geometric_transform(z, lambda w: (w[0] * 0.5, w[1]))
ndimage.shift(z, a([0.5, 1.0]))
ndimage.zoom(z, 2)
ndimage.rotate(z, 30)
ndimage.label(z > 0)[0]
ndimage.find_objects(a(np.asarray(ndimage.label(np.asarray(z) > 0)[0])))[0] is None
ndimage.sum_labels(z, z > 0)
ndimage.sum(z, labels=z > 0, index=a([0, 1], "int64"))
ndimage.mean(z, labels=z > 0)
ndimage.variance(z, labels=z > 0, index=1)
ndimage.standard_deviation(z)
ndimage.maximum(z, labels=z > 0)
ndimage.minimum_position(z)
ndimage.maximum_position(z)
ndimage.extrema(z)[0]
ndimage.median(z, labels=z > 0)
ndimage.histogram(z, -1, 1, 4)
ndimage.center_of_mass(z + 5)
ndimage.labeled_comprehension(z, z > 0, [0, 1], np.mean, float, 0)
ndimage.binary_dilation(z > 0)
ndimage.binary_erosion(z > 0, structure=a(np.ones((2, 2)) > 0))
ndimage.binary_opening(z > 0)
ndimage.binary_closing(z > 0)
ndimage.binary_fill_holes(z > 0)
ndimage.binary_propagation(z > 0)
ndimage.binary_hit_or_miss(z > 0)
ndimage.grey_dilation(z, 3)
ndimage.grey_erosion(z, 3)
ndimage.grey_opening(z, 3)
ndimage.morphological_gradient(z, 3)
ndimage.morphological_laplace(z, 3)
ndimage.white_tophat(z, 3)
ndimage.black_tophat(z, 3)
ndimage.distance_transform_edt(z > 0)
ndimage.distance_transform_cdt(z > 0)
ndimage.distance_transform_bf(z > 0)
ndimage.watershed_ift(a(np.asarray(z > 0).astype("uint8")), a(np.asarray(z > 0).astype("int8")))
"""

SPATIAL = """
spatial.KDTree(g).query(g[:3])[1]
spatial.cKDTree(g).query(g[:3], k=2)[0]
spatial.cKDTree(g).query_ball_point(u, 5.0, return_length=True)
spatial.cKDTree(g).query_pairs(1.0, output_type="ndarray").shape
spatial.cKDTree(g).count_neighbors(spatial.cKDTree(g), a([0.5, 1.0]))
spatial.distance_matrix(g, g)
spatial.minkowski_distance(g, g)
spatial.ConvexHull(g).volume
spatial.Delaunay(g[:, :2]).simplices.shape
spatial.Delaunay(g[:, :2]).find_simplex(g[:3, :2]) >= 0
spatial.Voronoi(g[:, :2]).points
spatial.SphericalVoronoi(a(np.eye(3).tolist() + (-np.eye(3)).tolist())).calculate_areas()
spatial.procrustes(g, g + 1)[2] < 1e-9
spatial.geometric_slerp(a([1.0, 0.0]), a([0.0, 1.0]), t)
spatial.transform.Rotation.from_rotvec(u).as_matrix()
spatial.transform.Rotation.from_quat(p[:4]).as_quat()
spatial.transform.Rotation.from_euler("xyz", u).apply(g)
spatial.transform.Rotation.from_matrix(a(np.eye(3))).as_rotvec()
spatial.transform.Slerp([0, 1], spatial.transform.Rotation.from_rotvec(g[:2]))(a([0.5])).as_rotvec()
spatial.tsearch(spatial.Delaunay(np.asarray(g)[:, :2]), g[:3, :2]) >= 0
spatial.distance.cdist(g, g)
spatial.distance.cdist(g, g, "mahalanobis", VI=np.eye(3))
spatial.distance.cdist(g, g, "cosine")
spatial.distance.cdist(g, g, lambda l, r: float(abs(l - r).sum()))
spatial.distance.pdist(g)
spatial.distance.pdist(g, "cityblock")
spatial.distance.pdist(g, "seuclidean", V=p[:3])
spatial.distance.squareform(spatial.distance.pdist(g))
spatial.distance.squareform(p[:6])
spatial.distance.euclidean(u, v)
spatial.distance.cosine(u, v)
spatial.distance.correlation(u, v)
spatial.distance.cityblock(u, v)
spatial.distance.chebyshev(u, v)
spatial.distance.minkowski(u, v, 3)
spatial.distance.mahalanobis(u, v, np.eye(3))
spatial.distance.mahalanobis(u, v, s[:3, :3])
spatial.distance.seuclidean(u, v, p[:3])
spatial.distance.braycurtis(u, v)
spatial.distance.canberra(u, v)
spatial.distance.jensenshannon(p, p + 1)
spatial.distance.hamming(k, k + 1)
spatial.distance.jaccard(q, q)
spatial.distance.dice(q, q)
spatial.distance.directed_hausdorff(g, g)[0]
spatial.distance.is_valid_dm(s * 0)
"""

SPECIAL = """
special.erf(x)
special.erfc(x)
special.erfinv(a([0.1, 0.5]))
special.gamma(p)
special.gammaln(p)
special.digamma(p)
special.polygamma(1, p)
special.beta(p, p)
special.betainc(p, p, a(0.5))
special.gammainc(p, p)
special.expit(x)
special.logit(p / (p.max() + 1))
special.log_expit(x)
special.logsumexp(x)
special.logsumexp(z, axis=0)
special.logsumexp(x, b=p)
special.softmax(z, axis=1)
special.log_softmax(z, axis=1)
special.xlogy(p, p)
special.xlog1py(p, p)
special.entr(p)
special.rel_entr(p, p + 1)
special.kl_div(p, p + 1)
special.huber(1.0, x)
special.j0(x)
special.jv(1, x)
special.yv(1, p)
special.iv(1, x)
special.kv(1, p)
special.i0(x)
special.airy(x)[0]
special.ellipk(a([0.1, 0.5]))
special.ellipj(x, a(0.5))[0]
special.zeta(p + 1)
special.lambertw(p)
special.wofz(c)
special.dawsn(x)
special.fresnel(x)[0]
special.sici(p)[0]
special.expi(p)
special.exp1(p)
special.ndtr(x)
special.ndtri(a([0.1, 0.5]))
special.log_ndtr(x)
special.sinc(x)
special.comb(9, k)
special.factorial(k)
special.binom(9, k)
special.bernoulli(4)
special.hyp2f1(1, 2, 3, a([0.1, 0.5]))
special.eval_legendre(2, x)
special.eval_hermite(2, x)
special.chdtr(p, p)
special.stdtr(p, x)
special.boxcox(p, 0.5)
special.inv_boxcox(p, 0.5)
special.cbrt(x)
special.exprel(x)
special.exp10(x)
special.log1p(p)
special.cosm1(x)
special.round(x)
special.struve(1, p)
special.owens_t(x, y)
special.voigt_profile(x, 1.0, 1.0)
special.multigammaln(p + 3, 2)
special.diric(x, 3)
special.softplus(x)
special.stirling2(k + 3, k)
"""

CLUSTER = """
cluster.vq.kmeans(g, 2, rng=0)[1]
cluster.vq.kmeans2(g, g[:2], minit="matrix")[1]
cluster.vq.vq(g, g[:2])[0]
cluster.vq.whiten(g)
cluster.hierarchy.linkage(g)
cluster.hierarchy.linkage(spatial.distance.pdist(g), "average")
cluster.hierarchy.ward(spatial.distance.pdist(g))
cluster.hierarchy.fcluster(link, 2, "maxclust")
cluster.hierarchy.fclusterdata(g, 1.0)
cluster.hierarchy.cophenet(link)
cluster.hierarchy.inconsistent(link)
cluster.hierarchy.leaves_list(link)
cluster.hierarchy.dendrogram(link, no_plot=True)["leaves"]
cluster.hierarchy.is_valid_linkage(link)
cluster.hierarchy.cut_tree(link, 2)
cluster.hierarchy.maxdists(link)
cluster.hierarchy.optimal_leaf_ordering(link, spatial.distance.pdist(g))
"""

PLOTS = """
ax.plot(x)
ax.plot(t, x, "o-")
ax.plot(t, g)
ax.scatter(x, y)
ax.scatter(x, y, c=p, s=p)
ax.scatter(x, y, c=a(np.abs(np.asarray(g)) / 9))
ax.bar(t, x)
ax.bar(t, x, bottom=y, width=p)
ax.barh(t, x)
ax.stem(t, x)
ax.step(t, x)
ax.fill_between(t, x, y)
ax.fill_between(t, x, y, where=q)
ax.fill_betweenx(t, x, y)
ax.fill(x, y)
ax.stackplot(t, p, p)
ax.stackplot(t, g.T)
ax.errorbar(t, x, yerr=p)
ax.errorbar(t, x, yerr=a(np.ones((2, 16))), xerr=p)
ax.hist(x)
ax.hist(g)
ax.hist([x, y])
ax.hist(x, bins=t)
ax.hist(x, weights=p)
ax.hist2d(x, y)
ax.hexbin(x, y, gridsize=4)
ax.hexbin(x, y, C=p, gridsize=4)
ax.boxplot(x)
ax.boxplot(g)
ax.boxplot([x, y])
ax.violinplot(x)
ax.violinplot(g)
ax.violinplot([x, y])
ax.eventplot(x)
ax.eventplot([x, y])
ax.pie(p)
ax.imshow(z)
ax.imshow(z, cmap="gray", vmin=z.min(), vmax=z.max(), extent=(0, 1, 0, 1))
ax.imshow(a(np.zeros((4, 4, 3))))
ax.imshow(a(np.zeros((4, 4, 4), "uint8")))
ax.imshow(z > 0)
ax.matshow(z)
ax.spy(z)
ax.pcolor(z)
ax.pcolormesh(z)
ax.pcolormesh(t[:12], t[:12], z)
ax.pcolormesh(t[:12], t[:12], z, shading="gouraud")
ax.pcolorfast(z)
ax.contour(z)
ax.contour(t[:12], t[:12], z, levels=a([-0.5, 0.0, 0.5]))
ax.contourf(z)
ax.contourf(t[:12], t[:12], z)
ax.clabel(ax.contour(z))
ax.quiver(x, y)
ax.quiver(x, y, p, p)
ax.quiver(x, y, p, p, p)
ax.barbs(x, y, p, p)
ax.tricontour(g[:, 0], g[:, 1], x)
ax.tricontourf(g[:, 0], g[:, 1], x)
ax.tripcolor(g[:, 0], g[:, 1], x)
ax.triplot(g[:, 0], g[:, 1])
ax.hlines(x, y, p)
ax.vlines(x, y, p)
ax.axhline(x[0])
ax.axvspan(x[0], x[1])
ax.semilogy(p)
ax.semilogx(p, x)
ax.loglog(p, p)
ax.acorr(x)
ax.xcorr(x, y)
ax.psd(x, NFFT=8)
ax.csd(x, y, NFFT=8)
ax.cohere(x, y, NFFT=8, noverlap=4)
ax.specgram(x, NFFT=8, noverlap=4)
ax.magnitude_spectrum(x)
ax.angle_spectrum(x)
ax.phase_spectrum(x)
ax.ecdf(x)
ax.stairs(x)
ax.stairs(x[:15], t)
ax.broken_barh([(x[0], p[0])], (y[0], p[1]))
ax.text(x[0], y[0], "a")
ax.annotate("a", (x[0], y[0]), xytext=(x[1], y[1]))
ax.arrow(x[0], y[0], p[0], p[1])
ax.set_xlim(x.min(), p.max())
ax.set_xlim(a([0.0, 1.0]))
ax.set_xticks(t)
ax.set_yticks(t, [str(i) for i in range(16)])
ax.add_collection(collections.LineCollection(a(np.zeros((3, 2, 2)))))
ax.add_collection(collections.LineCollection([g[:, :2], g[:, 1:]], array=p[:2]))
ax.add_collection(collections.PolyCollection([g[:, :2]]))
ax.add_patch(patches.Polygon(g[:, :2]))
ax.add_patch(patches.Rectangle(a([0.0, 0.0]), 1, 1))
ax.plot(t, x)[0].set_data(x, y)
ax.plot(t, x)[0].set_ydata(y)
ax.scatter(x, y).set_offsets(g[:, :2])
ax.scatter(x, y, c=p).set_array(x)
ax.imshow(z).set_data(z + 1)
ax3.plot_surface(gx, gy, z)
ax3.plot_surface(gx, gy, z, cmap="viridis", rstride=2, cstride=2)
ax3.plot_wireframe(gx, gy, z)
ax3.plot_trisurf(g[:, 0], g[:, 1], g[:, 2])
ax3.plot(g[:, 0], g[:, 1], g[:, 2])
ax3.scatter(g[:, 0], g[:, 1], g[:, 2], c=x)
ax3.bar3d(x, y, p * 0, 1, 1, p)
ax3.contour(gx, gy, z)
ax3.contourf(gx, gy, z)
ax3.quiver(x, y, p, x, y, p)
ax3.stem(x, y, p)
ax3.errorbar(x, y, p, p)
ax3.voxels(a(np.ones((2, 2, 2)) > 0))
ax3.tricontour(g[:, 0], g[:, 1], g[:, 2])
ax3.text(x[0], y[0], p[0], "a")
axp.plot(t, p)
axp.bar(t, p)
plt.colorbar(ax.imshow(z), ax=ax)
plt.get_cmap("viridis")(x)
colors.Normalize()(x)
colors.Normalize(x.min(), x.max())(x)
colors.LogNorm()(p)
colors.BoundaryNorm(t, 15)(x)
cbook.boxplot_stats(x)
"""


def calls(table: str) -> list[str]:
    """The expressions of a table."""
    return [line for line in table.splitlines() if line]


SCIPY = [
    call
    for table in (
        OPTIMIZE,
        LINALG,
        SPARSE,
        SIGNAL,
        STATS,
        INTERPOLATE,
        INTEGRATE,
        FFT,
        NDIMAGE,
        SPATIAL,
        SPECIAL,
        CLUSTER,
    )
    for call in calls(table)
]
MATPLOTLIB = calls(PLOTS)


def arguments(a, floats="float64") -> dict:
    """The names that the expressions have, of arrays that `a(values, dtype)` makes."""
    rng = np.random.default_rng(7)

    def array(values, dtype=None):
        values = np.asarray(values)
        if dtype is None and values.dtype == np.float64:
            dtype = floats
        return a(values if dtype is None else values.astype(dtype))

    s = rng.normal(size=(4, 4))
    own = {
        "x": rng.normal(size=16),
        "y": rng.normal(size=16),
        "t": np.sort(rng.uniform(0, 1, 16)),
        "p": rng.uniform(0.5, 2, 16),
        "c": rng.normal(size=16) + 1j * rng.normal(size=16),
        "k": np.arange(16) % 3,
        "i": np.arange(16),
        "j": np.arange(16)[::-1].copy(),
        "q": np.arange(16) % 3 == 0,
        "m": rng.normal(size=(4, 4)) + 4 * np.eye(4),
        "s": s @ s.T + 4 * np.eye(4),
        "d": np.abs(s) * (1 - np.eye(4)),
        "b": rng.normal(size=4),
        "g": rng.normal(size=(16, 3)),
        "z": rng.normal(size=(12, 12)),
        "u": rng.normal(size=3),
        "v": rng.normal(size=3),
        "gx": np.tile(np.arange(12.0), (12, 1)),
        "gy": np.tile(np.arange(12.0), (12, 1)).T.copy(),
    }
    names = {name: array(values) for name, values in own.items()}
    names |= {"a": array, "np": np}
    for module in MODULES.split():
        names[module.split(".")[0]] = importlib.import_module("scipy." + module.split(".")[0])
        importlib.import_module("scipy." + module)
    names["csr"] = names["sparse"].csr_array(own["m"])
    names["sos"] = array(names["signal"].butter(4, 0.3, output="sos"))
    names["link"] = array(names["cluster"].hierarchy.linkage(own["g"]))
    return names


def canvas(call: str) -> dict:
    """Small axes for a call to draw on, and Matplotlib's modules."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib import cbook, collections, colors, patches

    figure = plt.figure(figsize=(2, 2), dpi=40)
    name = call.partition(".")[0]
    projection = {"ax3": "3d", "axp": "polar"}.get(name)
    axes = name if projection else "ax"
    return {
        "figure": figure,
        axes: figure.add_subplot(projection=projection),
        "plt": plt,
        "cbook": cbook,
        "collections": collections,
        "colors": colors,
        "patches": patches,
    }
